import * as v from "valibot"
import { reason } from "#server/reason-contract.ts"
import { PasskeyAssertion, PasskeyAttestation } from "#server/ports/passkey-contract.ts"
import { withoutControlCharacters } from "#server/text-contract.ts"

/** Of one person. */
export const MOST_PASSKEYS = 20

export const PasskeyName = v.pipe(
  v.string(reason("passkey-unnamed")),
  v.trim(),
  v.nonEmpty(reason("passkey-name-empty")),
  v.maxLength(50, reason("passkey-name-too-long")),
  withoutControlCharacters,
)

function inJson<Schema extends v.GenericSchema>(schema: Schema) {
  return v.pipe(v.string(), v.maxLength(50_000), v.parseJson(), schema)
}

/** The form that the sign-in page's script fills in. */
export const PasskeySignIn = v.object({ response: inJson(PasskeyAssertion) })

/** The field of the account page's form that its script fills in. */
export const AttestationField = inJson(PasskeyAttestation)
