import * as v from "valibot"

/** Base64url. */
const Bytes = v.pipe(v.string(), v.maxLength(16_384))

const CredentialId = v.pipe(v.string(), v.nonEmpty(), v.maxLength(1400))

const credential = {
  id: CredentialId,
  rawId: CredentialId,
  type: v.literal("public-key"),
  authenticatorAttachment: v.optional(v.nullable(v.picklist(["platform", "cross-platform"]))),
  clientExtensionResults: v.optional(v.pipe(v.object({})), {}),
}

/** An authenticator's response to a sign-in, in WebAuthn's JSON format. */
export const PasskeyAssertion = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: Bytes,
    authenticatorData: Bytes,
    signature: Bytes,
    userHandle: v.optional(v.nullable(Bytes)),
  }),
})
export type PasskeyAssertion = v.InferOutput<typeof PasskeyAssertion>

/** An authenticator's response when it creates a passkey. */
export const PasskeyAttestation = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: Bytes,
    attestationObject: Bytes,
    transports: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(40))), v.maxLength(10))),
  }),
})
export type PasskeyAttestation = v.InferOutput<typeof PasskeyAttestation>
