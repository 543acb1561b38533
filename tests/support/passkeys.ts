import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto"
import type { TidelineApp } from "./app.ts"
import type { openBrowser, Person } from "./people.ts"

type Browser = ReturnType<typeof openBrowser>

/** What an authenticator does differently from a good one. */
interface Faults {
  challenge?: string
  origin?: string
  rpId?: string
  isVerified?: boolean
}

/**
 * An authenticator with one passkey: WebAuthn level 2, sections 6 and 7, implemented separately from
 * the code under test.
 */
export function openPasskey(app: Pick<TidelineApp, "origin">) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const id = randomBytes(32)
  let counter = 0
  const { x = "", y = "" } = publicKey.export({ format: "jwk" })
  // In CBOR: { 1: 2, 3: -7, -1: 1, -2: x, -3: y }
  const key = Buffer.concat([
    Buffer.from("a5010203262001215820", "hex"),
    Buffer.from(x, "base64url"),
    Buffer.from("225820", "hex"),
    Buffer.from(y, "base64url"),
  ])

  const dataOf = (flags: number, { rpId = new URL(app.origin).hostname, isVerified = true }: Faults) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE((counter += 1))
    const present = 0x01
    const all = flags | present | (isVerified ? 0x04 : 0)
    return Buffer.concat([digest(rpId), Buffer.from([all]), count])
  }
  const clientDataOf = (type: string, challenge: string, { origin = app.origin }: Faults) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const shared = {
    id: id.toString("base64url"),
    rawId: id.toString("base64url"),
    type: "public-key",
    clientExtensionResults: {},
  }

  return {
    id: shared.id,
    publicKey: key.toString("base64"),

    attest(challenge: string, faults: Faults = {}): string {
      const head = Buffer.concat([dataOf(0x40, faults), Buffer.alloc(16), Buffer.from([0, id.length]), id])
      const authData = Buffer.concat([head, key])
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        ...["fmt", "none", "attStmt"].map(encodeText),
        Buffer.from([0xa0]),
        encodeText("authData"),
        Buffer.from([0x58, authData.length]),
        authData,
      ])
      const clientDataJSON = clientDataOf("webauthn.create", faults.challenge ?? challenge, faults)
      return JSON.stringify({
        ...shared,
        response: {
          clientDataJSON: clientDataJSON.toString("base64url"),
          attestationObject: attestationObject.toString("base64url"),
          transports: ["internal"],
        },
      })
    },

    assert(challenge: string, faults: Faults = {}): string {
      const authenticatorData = dataOf(0, faults)
      const clientDataJSON = clientDataOf("webauthn.get", faults.challenge ?? challenge, faults)
      const signature = sign("sha256", Buffer.concat([authenticatorData, digest(clientDataJSON)]), privateKey)
      return JSON.stringify({
        ...shared,
        response: {
          clientDataJSON: clientDataJSON.toString("base64url"),
          authenticatorData: authenticatorData.toString("base64url"),
          signature: signature.toString("base64url"),
        },
      })
    },
  }
}

export type Passkey = ReturnType<typeof openPasskey>

/** Proves who it is with the password. Resolves to the challenge for a new passkey. */
export async function beginPasskey(person: Person, current = person.password): Promise<string> {
  const begun = await changeAccount(person, { intent: "begin-passkey", name: "new", current })
  const text = await begun.text()
  const [, challenge] = /challenge\\*":\\*"([\w-]+)/.exec(text) ?? []
  if (!begun.ok || challenge === undefined) throw new Error(`No passkey was begun: ${begun.status}`)
  return challenge
}

export async function addPasskey(
  app: Pick<TidelineApp, "origin">,
  person: Person,
  name = "a phone",
): Promise<Passkey> {
  const passkey = openPasskey(app)
  const attestation = passkey.attest(await beginPasskey(person))
  const added = await changeAccount(person, { intent: "add-passkey", name, attestation })
  if (!added.ok) throw new Error(`The passkey was refused: ${added.status}`)
  return passkey
}

/** For scripts, which get the data of the page. */
export function changeAccount(person: Browser, fields: Record<string, string>): Promise<Response> {
  return person("/dashboard/account.data", { method: "POST", body: new URLSearchParams(fields) })
}

/** The challenge for a sign-in in this browser. */
export async function askForChallenge(browser: Browser): Promise<string> {
  const response = await browser("/api/auth/passkey/generate-authenticate-options")
  const { challenge, userVerification } = (await response.json()) as Record<string, string>
  if (!response.ok || challenge === undefined || userVerification !== "required")
    throw new Error(`No challenge was given: ${response.status}`)
  return challenge
}

/** Posts the sign-in page's form, as its script fills it in. */
export function enterWith(browser: Browser, response: string, target = "/dashboard"): Promise<Response> {
  return browser(`/sign-in/passkey?${new URLSearchParams({ redirect_url: target })}`, {
    method: "POST",
    body: new URLSearchParams({ response }),
  })
}

function digest(data: string | Buffer): Buffer {
  return createHash("sha256").update(data).digest()
}

function encodeText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
}
