import * as v from "valibot"
import { reason } from "#server/reason-contract.ts"
import { Picture } from "#server/picture-contract.ts"
import { Email, secret, withoutControlCharacters } from "#server/text-contract.ts"
import { KEY_SCOPES } from "#server/ports/identity-contract.ts"
import type { AccountProblem } from "#server/ports/account-forms.ts"
import type { SsoProblem } from "#server/ports/single-sign-on.ts"
import { AttestationField, PasskeyName } from "./passkey-contract.ts"
import { PersonName, SaveProfile } from "#server/users/contract.ts"

export type { AccountProblem } from "#server/ports/account-forms.ts"
export type { AccountKey, AccountPasskey, SecondFactor } from "#server/ports/own-account.ts"
export { KEY_SCOPES, type KeyScope } from "#server/ports/identity-contract.ts"

export const PASSWORD_LENGTH = { least: 10, most: 128 }

const Password = v.pipe(
  v.string(reason("password-missing")),
  v.nonEmpty(reason("password-missing")),
  v.maxLength(PASSWORD_LENGTH.most, reason("password-too-long", { most: PASSWORD_LENGTH.most })),
  secret,
)

const NewPassword = v.pipe(
  v.string(reason("new-password-missing")),
  v.minLength(PASSWORD_LENGTH.least, reason("new-password-too-short", { least: PASSWORD_LENGTH.least })),
  v.maxLength(PASSWORD_LENGTH.most, reason("password-too-long", { most: PASSWORD_LENGTH.most })),
  secret,
)

const Id = v.pipe(v.string(), v.nonEmpty(), v.maxLength(100))

/** Of one person. */
export const MOST_KEYS = 50

export const KeyName = v.pipe(
  v.string(reason("key-unnamed")),
  v.trim(),
  v.nonEmpty(reason("key-name-empty")),
  v.maxLength(32, reason("key-name-too-long")),
  withoutControlCharacters,
)

/** Days until a new key expires. The first is what the form suggests. */
export const KEY_LIVES = ["90", "30", "365", "never"] as const

const NewKey = v.object({
  intent: v.literal("create-key"),
  name: KeyName,
  days: v.picklist(KEY_LIVES, reason("key-without-end")),
  ...v.entriesFromList(KEY_SCOPES, v.optional(v.literal("on"))),
})

/** The password, or the email address if the provider keeps the password. */
const Confirmation = v.pipe(
  v.string(reason("field-empty")),
  v.nonEmpty(reason("field-empty")),
  v.maxLength(254),
  secret,
)

/** In fields that are named `space-` and the space's id: a member's id, or `delete`. */
const SpaceChoice = v.pipe(v.string(), v.maxLength(40))

export const SignIn = v.object({ email: Email, password: Password })

export const SignUp = v.object({
  name: PersonName,
  email: Email,
  password: NewPassword,
})

/** Of an authenticator app, or a recovery code. */
const Code = v.pipe(
  v.string(reason("code-missing")),
  v.trim(),
  v.nonEmpty(reason("code-missing")),
  v.maxLength(40, reason("code-too-long")),
  secret,
)

export const EnterCode = v.object({ code: Code, trust: v.optional(v.literal("on")) })

/** As authenticator apps read it, in ASCII. A QR code holds fewer than 3000 bytes. */
export const AuthenticatorUri = v.pipe(
  v.string(),
  v.maxLength(1000),
  v.regex(/^otpauth:\/\/totp\/[!-~]*$/),
  v.check((uri) => URL.canParse(uri)),
)

/** The steps of the page that sets up a second factor, or asks for it. */
export const SecondFactorStep = v.variant("step", [
  v.object({ step: v.literal("begin"), password: v.optional(Password) }),
  v.object({ step: v.literal("confirm"), code: Code, uri: AuthenticatorUri }),
  v.object({ step: v.literal("show"), ...EnterCode.entries }),
])

export const AskForReset = v.object({ email: Email })

export const ChooseNewPassword = v.object({
  /** From the link in the email. */
  token: v.pipe(v.string(), v.nonEmpty(), v.maxLength(200)),
  password: NewPassword,
})

export const ConfirmAddress = v.object({
  /** From the link in the email. */
  token: v.pipe(v.string(), v.nonEmpty(), v.maxLength(2000)),
  password: NewPassword,
})

/** The changes that the account page can request. */
export const AccountChange = v.variant("intent", [
  v.object({ intent: v.literal("save-profile"), ...SaveProfile.entries }),
  v.object({ intent: v.literal("save-picture"), picture: Picture }),
  v.object({ intent: v.literal("remove-picture") }),
  v.object({
    intent: v.literal("save-notifications"),
    inApp: v.optional(v.literal("on")),
    byEmail: v.optional(v.literal("on")),
  }),
  v.object({ intent: v.literal("change-password"), current: Password, password: NewPassword }),
  v.object({
    intent: v.literal("change-address"),
    email: v.pipe(Email, v.toLowerCase()),
    current: v.optional(Password, ""),
    code: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(40, reason("code-too-long")), secret), ""),
  }),
  v.object({ intent: v.literal("stop-address-change") }),
  v.object({ intent: v.literal("renew-recovery-codes"), current: v.optional(Password), code: Code }),
  v.object({ intent: v.literal("remove-second-factor"), current: v.optional(Password), code: Code }),
  v.object({ intent: v.literal("begin-passkey"), name: PasskeyName, current: v.optional(Password) }),
  v.object({ intent: v.literal("add-passkey"), name: PasskeyName, attestation: AttestationField }),
  v.object({ intent: v.literal("rename-passkey"), passkeyId: Id, name: PasskeyName }),
  v.object({ intent: v.literal("remove-passkey"), passkeyId: Id, current: v.optional(Password) }),
  v.object({ intent: v.literal("end-session"), sessionId: Id }),
  v.object({ intent: v.literal("end-other-sessions") }),
  NewKey,
  v.object({ intent: v.literal("delete-key"), keyId: Id }),
  v.objectWithRest({ intent: v.literal("delete-account"), confirmation: Confirmation }, SpaceChoice),
])
export type AccountChange = v.InferOutput<typeof AccountChange>

/** The last entry of the page before, in a list; an invalid one begins at the start. */
export const ListPlace = v.object({
  before: v.fallback(v.optional(v.pipe(v.string(), v.uuid())), undefined),
})

/** The decision of a person who opened the link to change an email address. */
export const AddressChangeForm = v.object({
  token: v.pipe(v.string(), v.nonEmpty(), v.maxLength(100)),
  intent: v.picklist(["confirm", "stop"]),
})
export type AddressChangeForm = v.InferOutput<typeof AddressChangeForm>

/** The outcome, in the page's URL. */
export const AddressChangeDone = v.fallback(
  v.nullable(v.picklist(["waiting", "changed", "stopped", "expired"])),
  null,
)
export type AddressChangeDone = v.InferOutput<typeof AddressChangeDone>

const SIGN_IN_REFUSALS = [
  "unknown-provider",
  "provider-unreachable",
  "cancelled",
  "attempt-expired",
  "response-refused",
  "address-unverified",
  "domain-refused",
  "signup-closed",
  "account-suspended",
  "too-many-attempts",
  "address-unconfirmed",
  "passkey-unknown",
  "passkey-refused",
] as const satisfies readonly (SsoProblem | AccountProblem)[]

/** Why somebody could not sign in by a provider or with a passkey, in the sign-in page's URL. */
export const SignInRefusal = v.fallback(v.nullable(v.picklist(SIGN_IN_REFUSALS)), null)
export type SignInRefusal = (typeof SIGN_IN_REFUSALS)[number]

/** What a provider posts when a session ends there. */
export const LogoutForm = v.object({
  logout_token: v.pipe(v.string(), v.nonEmpty(), v.maxLength(16_384)),
})

/** A signed-in browser, as the account page shows it. */
export interface SignedInBrowser {
  id: string
  userAgent: string
  address: string | null
  /** Milliseconds since the epoch. */
  since: number
  isThisOne: boolean
}
