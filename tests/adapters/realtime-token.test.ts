import { createPublicKey } from "node:crypto"
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from "jose"
import { beforeAll, describe, expect, test } from "vitest"
import { createKeyLookup, createTokenVerifier } from "#server/adapters/identity/realtime-token.ts"

const ISSUER = "https://issuer.example.org"
const AUDIENCE = "tideline-realtime"

const now = () => Math.floor(Date.now() / 1000)

describe.each(["RS256", "ES256"])("a realtime token signed with %s", (alg) => {
  let pair: Awaited<ReturnType<typeof generateKeyPair>>
  let verify: ReturnType<typeof createTokenVerifier>
  beforeAll(async () => {
    pair = await generateKeyPair(alg, { extractable: true })
    const keys = [{ ...(await exportJWK(pair.publicKey)), kid: "one", alg }]
    verify = createTokenVerifier({ issuer: ISSUER, keys: createKeyLookup(async () => ({ keys })) })
  })

  const good = (): JWTPayload => ({
    sub: "user_1",
    sid: "sess_1",
    plan: "pro",
    iss: ISSUER,
    aud: AUDIENCE,
    exp: now() + 60,
  })
  const sign = (claims: JWTPayload, header: object = {}, key = pair.privateKey) =>
    new SignJWT(claims).setProtectedHeader({ alg, kid: "one", ...header }).sign(key)

  test("carries the user, the session, the plan and the expiry", async () => {
    const claims = good()
    expect(await verify(await sign(claims))).toEqual({
      userId: "user_1",
      sessionId: "sess_1",
      plan: "pro",
      via: "session-bearer",
      expiresAt: (claims.exp ?? 0) * 1000,
    })
  })

  test("is for the free plan unless it says pro", async () => {
    for (const plan of [undefined, null, "free", "enterprise", 1]) {
      expect((await verify(await sign({ ...good(), plan }))).plan).toBe("free")
    }
  })

  test("may come from Clerk, made from a template", async () => {
    expect((await verify(await sign(good(), { cat: "cl_B7d4PD222AAA" }))).userId).toBe("user_1")
  })

  test("is accepted for a few seconds past its expiry, to allow for clock skew", async () => {
    await verify(await sign({ ...good(), exp: now() - 2 }))
    await expect(verify(await sign({ ...good(), exp: now() - 30 }))).rejects.toThrow("exp")
  })

  test.each<[string, JWTPayload]>([
    ["no audience, as a session token has none", { aud: undefined } as unknown as JWTPayload],
    ["another audience", { aud: "another-application" }],
    ["another issuer", { iss: "https://evil.example" }],
    ["the issuer with an extra slash", { iss: `${ISSUER}/` }],
    ["no subject", { sub: undefined } as unknown as JWTPayload],
    ["an empty subject", { sub: "" }],
    ["no expiry", { exp: undefined } as unknown as JWTPayload],
  ])("is refused with %s", async (_, claims) => {
    await expect(verify(await sign({ ...good(), ...claims }))).rejects.toThrow()
  })

  test("is refused if it is a Clerk token of another kind", async () => {
    for (const cat of ["cl_B7d4PD111AAA", "cl_B7d4PD333AAA", ""]) {
      await expect(verify(await sign(good(), { cat }))).rejects.toThrow("another kind")
    }
  })

  test("is refused if another key signed it, whatever key id it carries", async () => {
    const other = await generateKeyPair(alg)
    await expect(verify(await sign(good(), {}, other.privateKey))).rejects.toThrow("signature")
    await expect(verify(await sign(good(), { kid: "two" }, other.privateKey))).rejects.toThrow()
  })

  test("is refused without a signature, or if the public key was used as a shared secret", async () => {
    await expect(verify(new UnsecuredJWT(good()).encode())).rejects.toThrow()
    const secret = createPublicKey(await exportSPKI(pair.publicKey)).export({ type: "spki", format: "pem" })
    const forged = await new SignJWT(good())
      .setProtectedHeader({ alg: "HS256", kid: "one" })
      .sign(new TextEncoder().encode(String(secret)))
    await expect(verify(forged)).rejects.toThrow()
  })

  test.each(["", "a.b.c", "x".repeat(10_000)])("is refused if it is not a token at all", async (token) => {
    await expect(verify(token)).rejects.toThrow()
  })
})

describe("the key lookup", () => {
  test("fetches once for many tokens, does not refetch for every invented key, and retries after a failure", async () => {
    const pair = await generateKeyPair("ES256", { extractable: true })
    const keys = [{ ...(await exportJWK(pair.publicKey)), kid: "one", alg: "ES256" }]
    let asked = 0
    let isDown = true
    const lookup = createKeyLookup(async () => {
      asked += 1
      if (isDown) throw new Error("The database is away.")
      return { keys }
    })
    const header = { alg: "ES256", kid: "one" }
    const token = { payload: "", signature: "" }
    await expect(async () => lookup(header, token)).rejects.toThrow("away")
    isDown = false
    await Promise.all([lookup(header, token), lookup(header, token), lookup(header, token)])
    expect(asked).toBe(2)
    for (let i = 0; i < 50; i++)
      await expect(async () => lookup({ ...header, kid: `invented-${i}` }, token)).rejects.toThrow()
    expect(asked).toBe(2)
  })
})
