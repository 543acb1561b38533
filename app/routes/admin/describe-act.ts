import type { I18n } from "@lingui/core"
import { msg, plural } from "@lingui/core/macro"
import type { OperatorChange } from "#server/operator/contract.ts"
import { isKind, KIND_NAMES } from "./email-kinds.ts"

/**
 * What an operator did, as a sentence without a subject: `changed the plan of ada@example.org from
 * free to pro`.
 */
export function describeChange({ act, subjectEmail, facts, detail }: OperatorChange, i18n: I18n): string {
  const whom = subjectEmail ?? i18n._(msg`somebody whose account was deleted`)
  const what = describeFacts(facts, i18n) ?? detail ?? ""
  switch (act) {
    case "change-plan":
      return i18n._(msg`changed the plan of ${whom} ${what}`)
    case "sign-out":
      return i18n._(msg`signed ${whom} out everywhere`)
    case "suspend":
      return i18n._(msg`suspended ${whom}`)
    case "allow":
      return i18n._(msg`allowed ${whom} again`)
    case "make-password-link":
      return i18n._(msg`created a password link for ${whom}`)
    case "remove-factors":
      return i18n._(msg`removed the second factor of ${whom}`)
    case "invite":
      return i18n._(msg`invited ${whom}`)
    case "retry-letter":
      return facts?.emails
        ? i18n._(msg`resent emails: ${what}`)
        : i18n._(msg`resent an email to ${whom} (${what})`)
    case "drop-letter":
      return i18n._(msg`discarded an email to ${whom} (${what})`)
    case "stop-answer":
      return i18n._(msg`stopped a reply to ${whom}`)
  }
}

function describeFacts(facts: OperatorChange["facts"], i18n: I18n): string | null {
  const { plans, emails: count, emailKind } = facts ?? {}
  if (plans) {
    const { previous, next: plan } = plans
    return i18n._(msg`from ${previous} to ${plan}`)
  }
  if (count) return i18n._(msg`${plural(count, { one: "# that was parked", other: "# that were parked" })}`)
  if (emailKind === undefined) return null
  return isKind(emailKind) ? i18n._(KIND_NAMES[emailKind]) : emailKind
}
