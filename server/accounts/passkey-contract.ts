import * as v from "valibot"
import { PasskeyAssertion, PasskeyAttestation } from "#server/ports/passkey-contract.ts"
import { withoutControlCharacters } from "#server/text-contract.ts"

/** Of one person. */
export const MOST_PASSKEYS = 20

export const PasskeyName = v.pipe(
  v.string("Name the passkey."),
  v.trim(),
  v.nonEmpty("Name the passkey after the device or app that holds it."),
  v.maxLength(50, "A passkey's name can have up to 50 characters."),
  withoutControlCharacters,
)

function inJson<Schema extends v.GenericSchema>(schema: Schema) {
  return v.pipe(v.string(), v.maxLength(50_000), v.parseJson(), schema)
}

/** The form that the sign-in page's script fills in. */
export const PasskeySignIn = v.object({ response: inJson(PasskeyAssertion) })

/** The field of the account page's form that its script fills in. */
export const AttestationField = inJson(PasskeyAttestation)
