import type { Database } from "#db/client.ts"
import {
  queueAddressChange,
  queueAddressChangeAttempted,
  queueAddressVerification,
  queuePasswordReset,
  queueSignUpAttempted,
} from "#server/mail/mail.ts"
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
  return {
    recordSecurityEvent: (db: Database, event: SecurityEvent) =>
      recordSecurityEvent({ db, config, log }, event),
    queuePasswordReset: async (db: Database, email: LinkEmail) =>
      queuePasswordReset({ db, config }, await inLanguageOfOwner(db, email)),
    queueAddressVerification: async (db: Database, email: LinkEmail) =>
      queueAddressVerification({ db, config }, await inLanguageOfOwner(db, email)),
    queueSignUpAttempted: async (db: Database, email: AccountEmail) =>
      queueSignUpAttempted({ db, config }, await inLanguageOfOwner(db, email)),
    queueAddressChange: async (db: Database, email: AddressChange) =>
      queueAddressChange({ db, config }, { ...email, language: await findLanguage({ db }, email.userId) }),
    queueAddressChangeAttempted: async (db: Database, email: Omit<AccountEmail, "language">) =>
      queueAddressChangeAttempted(
        { db, config },
        { ...email, language: await findLanguage({ db }, email.userId) },
      ),
    changeAddress: (db: Database, change: { userId: string; email: string }) => changeAddress({ db }, change),
    isInvited: async (db: Database, token: string, email: string) =>
      (await findInvited({ db, config }, token))?.email.toLowerCase() === email.toLowerCase(),
    redeemInvitation: (db: Database, token: string, email: string) =>
      redeemInvitation({ db, config }, token, email),
  }
}

/** Anybody may request an email to an account, in any language; its owner reads it. */
async function inLanguageOfOwner<Email extends { userId: string; language: Language }>(
  db: Database,
  email: Email,
): Promise<Email> {
  return { ...email, language: (await findLanguage({ db }, email.userId)) ?? email.language }
}

interface AccountEmail {
  userId: string
  email: string
  language: Language
}

type AddressChange = Omit<Parameters<typeof queueAddressChange>[1], "language">

interface LinkEmail extends AccountEmail {
  url: string
  minutes: number
}
