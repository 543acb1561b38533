import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import type { EmailKind } from "#server/mail/outbox.ts"

/** The name of each kind of email on the operator's pages. */
export const KIND_NAMES: Record<EmailKind, MessageDescriptor> = {
  welcome: msg`welcome`,
  "plan-changed": msg`plan changed`,
  "verify-address": msg`verify address`,
  "sign-up-attempted": msg`sign up attempted`,
  "reset-password": msg`reset password`,
  "waitlist-confirmation": msg`waitlist confirmation`,
  "waitlist-invitation": msg`waitlist invitation`,
  "space-invitation": msg`invitation to a space`,
  mention: msg`mention`,
  "account-deleted": msg`account deleted`,
  "security-notice": msg`security notice`,
  "confirm-address-change": msg`confirm address change`,
  "address-change-attempted": msg`address change attempted`,
}

export function isKind(name: string): name is EmailKind {
  return Object.hasOwn(KIND_NAMES, name)
}
