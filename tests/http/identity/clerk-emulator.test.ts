import { once } from "node:events"
import { createServer, request as forward } from "node:http"
import { createEmulator, type Emulator } from "emulate"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startTideline, type TidelineApp } from "../../support/app.ts"
import { publishableKeyOf, SECRET_KEY } from "../../support/clerk.ts"
import { openBrowser } from "../../support/people.ts"
import { portOf } from "../../support/port-of.ts"
import { findFreePort } from "../../support/ports.ts"

// A third-party emulator of Clerk. Its tokens lack azp and the plan, so the server runs as in
// development, where azp is not checked.

describe("Clerk's emulator", () => {
  let emulator: Emulator
  let api: Awaited<ReturnType<typeof startHeaderFix>>
  let app: TidelineApp
  beforeAll(async () => {
    const port = await findFreePort()
    emulator = await createEmulator({
      service: "clerk",
      port,
      baseUrl: `http://127.0.0.1:${port}`,
      seed: {
        tokens: { [SECRET_KEY]: { login: "backend", scopes: [] } },
        clerk: {
          users: [
            {
              first_name: "Ada",
              last_name: "Lovelace",
              email_addresses: ["ada@example.org"],
              password: "an engine of brass",
            },
            {
              first_name: "Grace",
              last_name: "Hopper",
              email_addresses: ["grace@example.org"],
              password: "a moth in a relay",
            },
          ],
        },
      },
    })
    api = await startHeaderFix(port)
    app = await startTideline({
      NODE_ENV: "development",
      CLERK_SECRET_KEY: SECRET_KEY,
      CLERK_PUBLISHABLE_KEY: publishableKeyOf(emulator.url),
      CLERK_API_URL: api.url,
      JWT_ISSUER_DOMAIN: emulator.url,
    })
  })
  afterAll(async () => {
    await app?.stop()
    api?.close()
    await emulator?.close()
  })

  const call = async <Answer>(path: string, body?: object) => {
    const response = await fetch(api.url + path, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${SECRET_KEY}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as Answer
  }

  /** A session of the seeded user with this email address, and its token. */
  async function enter(email: string) {
    const { data } = await call<{ data: { id: string; email_addresses: { email_address: string }[] }[] }>(
      "/v1/users",
    )
    const user = data.find((one) => one.email_addresses.some((address) => address.email_address === email))
    const session = await call<{ id: string }>("/v1/sessions", { user_id: user?.id })
    const { jwt } = await call<{ jwt: string }>(`/v1/sessions/${session.id}/tokens`, {})
    return { userId: user?.id ?? "", sessionId: session.id, token: jwt }
  }

  test("identifies a person by a token that its keys verify, and creates a record", async () => {
    const { userId, token } = await enter("ada@example.org")
    const send = openBrowser(app, { __session: token, __client_uat: "1" })
    expect((await send("/api/files")).status).toBe(200)
    expect(await (await send("/onboarding")).text()).toContain("ada@example.org")
    const sql = postgres(app.databaseUrl, { max: 1 })
    const [record] = await sql`select email, name, plan from users where clerk_id = ${userId}`
    await sql.end()
    expect(record).toEqual({ email: "ada@example.org", name: "Ada Lovelace", plan: "free" })
  })

  test("rejects an altered token", async () => {
    const { token } = await enter("ada@example.org")
    const [head, , signature] = token.split(".")
    const other = (await enter("grace@example.org")).token.split(".")[1]
    const forged = [head, other, signature].join(".")
    for (const headers of [
      { authorization: `Bearer ${forged}` },
      { cookie: `__session=${forged}; __client_uat=1` },
    ]) {
      expect((await fetch(`${app.origin}/api/files`, { headers })).status).toBe(401)
    }
  })

  test("ends the session on sign-out", async () => {
    const { sessionId, token } = await enter("grace@example.org")
    const send = openBrowser(app, { __session: token, __client_uat: "1" })
    expect((await send("/sign-out", { method: "POST" })).status).toBe(303)
    expect(send.cookie()).toBe("")
    expect(await call(`/v1/sessions/${sessionId}`)).toMatchObject({ status: "revoked" })
    await expect(call(`/v1/sessions/${sessionId}/tokens`, {})).rejects.toThrow()
  })

  test("sends a visitor to sign in", async () => {
    expect((await fetch(`${app.origin}/api/files`)).status).toBe(401)
    const page = await fetch(`${app.origin}/dashboard`, { redirect: "manual" })
    expect(page.headers.get("location")).toBe("/sign-in?redirect_url=%2Fdashboard")
  })
})

/**
 * The emulator adds a charset to its content type, which makes Clerk's SDK take the body for text.
 */
async function startHeaderFix(port: number) {
  const server = createServer((incoming, outgoing) => {
    const { url = "/", method = "GET", headers } = incoming
    const onward = forward({ port, host: "127.0.0.1", path: url, method, headers }, (answer) => {
      const type = answer.headers["content-type"]?.replace(/;.*/, "")
      outgoing.writeHead(answer.statusCode ?? 502, {
        ...answer.headers,
        ...(type && { "content-type": type }),
      })
      answer.pipe(outgoing)
    })
    onward.once("error", () => outgoing.writeHead(502).end())
    incoming.pipe(onward)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return { url: `http://127.0.0.1:${portOf(server)}`, close: () => server.close() }
}
