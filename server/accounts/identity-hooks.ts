import type { Database } from "#db/client.ts"
import type { ACCOUNT_EMAILS } from "#server/mail/account-emails.ts"
import { emailLater, type About } from "#server/mail/mail.ts"
import type { Language } from "#server/language-contract.ts"
import { findLanguage } from "#server/users/language.ts"
import type { Config } from "#server/config.ts"
import type { Log } from "#server/log.ts"
import type { SecurityEvent } from "./security-contract.ts"
import { recordSecurityEvent } from "./security-log.ts"
import { changeAddress } from "#server/users/users.ts"
import { redeemInvitation } from "#server/waitlist/waitlist.ts"
import { findInvited, type InvitationSettings } from "./invited.ts"

type HookSettings = InvitationSettings & Pick<Config, "securityLogDays">

/** What an identity provider that stores its accounts in our database needs from the product. */
export function accountHooks(config: HookSettings, log: Log) {
  /** Anybody may request an email to an account, in any language; its owner reads it. */
  const emailOwner =
    <Kind extends keyof typeof ACCOUNT_EMAILS>(kind: Kind) =>
    async (db: Database, email: Omit<About<Kind>, "language"> & { userId: string; language?: Language }) => {
      const language = (await findLanguage({ db }, email.userId)) ?? email.language ?? null
      return emailLater({ db, config }, kind, { ...email, language })
    }
  return {
    recordSecurityEvent: (db: Database, event: SecurityEvent) =>
      recordSecurityEvent({ db, config, log }, event),
    queuePasswordReset: emailOwner("reset-password"),
    queueAddressVerification: emailOwner("verify-address"),
    queueSignUpAttempted: emailOwner("sign-up-attempted"),
    queueAddressChange: emailOwner("confirm-address-change"),
    queueAddressChangeAttempted: emailOwner("address-change-attempted"),
    changeAddress: (db: Database, change: { userId: string; email: string }) => changeAddress({ db }, change),
    isInvited: async (db: Database, token: string, email: string) =>
      (await findInvited({ db, config }, token))?.email.toLowerCase() === email.toLowerCase(),
    redeemInvitation: (db: Database, token: string, email: string) =>
      redeemInvitation({ db, config }, token, email),
  }
}
