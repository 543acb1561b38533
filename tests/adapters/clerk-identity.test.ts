import { pino } from "pino"
import { RouterContextProvider } from "react-router"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openClerkIdentity } from "#server/adapters/identity/clerk.ts"
import type { Session } from "#server/ports/session.ts"
import { ISSUER, PUBLISHABLE_KEY, SECRET_KEY, startClerk, type ClerkUser } from "../support/clerk.ts"

const ORIGIN = "https://tideline.example.org"

let clerk: Awaited<ReturnType<typeof startClerk>>
beforeAll(async () => {
  clerk = await startClerk()
})
afterAll(() => clerk.close())

const open = (settings: { apiUrl?: string; jwtKey?: string | undefined } = {}) =>
  openClerkIdentity({
    origin: ORIGIN,
    production: true,
    issuer: ISSUER,
    secretKey: SECRET_KEY,
    publishableKey: PUBLISHABLE_KEY,
    jwtKey: clerk.jwtKey,
    apiUrl: clerk.url,
    proxyUrl: undefined,
    clerkJsUrl: undefined,
    clerkUiUrl: undefined,
    webhookSecret: undefined,
    log: pino({ level: "silent" }),
    ...settings,
  })

const claims = (more: object = {}) => ({
  sub: "user_ada",
  sid: "sess_ada",
  v: 2,
  sts: "active",
  azp: ORIGIN,
  fea: "",
  ...more,
})

/** What the adapter returns for a request with these headers. */
async function within<Answer>(
  headers: Record<string, string>,
  ask: (
    identity: Awaited<ReturnType<typeof open>>,
    args: { request: Request; context: RouterContextProvider; address: string },
  ) => Promise<Answer>,
  settings = {},
): Promise<Answer> {
  const identity = await open(settings)
  const args = {
    request: new Request(`${ORIGIN}/api/files`, { headers }),
    context: new RouterContextProvider(),
    address: "203.0.113.7",
  }
  const answers: Answer[] = []
  await identity.middleware?.(args, async () => {
    answers.push(await ask(identity, args))
    return new Response()
  })
  return answers[0] as Answer
}

const sessionBy = (headers: Record<string, string>, settings = {}): Promise<Session | null> =>
  within(headers, (identity, args) => identity.getSession(args), settings)

describe("the plan of a Clerk user", () => {
  test.each([
    ["pro, if the person subscribed to it", { pla: "u:pro" }, "pro"],
    ["free, if the person subscribed to another", { pla: "u:free_user" }, "free"],
    [
      "free, if only their organisation has pro",
      { pla: "o:pro", o: { id: "org_1", rol: "admin", slg: "acme" } },
      "free",
    ],
    ["free, if the token contains no plan", {}, "free"],
  ])("is %s", async (_, more, plan) => {
    const token = await clerk.mint(claims(more))
    expect(await sessionBy({ authorization: `Bearer ${token}` })).toEqual({
      userId: "user_ada",
      sessionId: "sess_ada",
      plan,
      via: "session-bearer",
    })
    expect(await sessionBy({ cookie: `__session=${token}; __client_uat=1` })).toMatchObject({
      plan,
      via: "cookie",
    })
  })

  test("is requested from Clerk if an API key does not carry it, and is free if Clerk does not reply", async () => {
    clerk.users.set("user_grace", {
      id: "user_grace",
      email: "grace@example.org",
      name: ["Grace", "Hopper"],
      plan: "pro",
    })
    clerk.apiKeys.set("ak_grace", "user_grace")
    clerk.apiKeys.set("ak_ghost", "user_ghost")
    const key = { userId: "user_grace", sessionId: null, plan: "pro", via: "api-key" }
    expect(await sessionBy({ authorization: "Bearer ak_grace" })).toEqual(key)
    expect(await sessionBy({ authorization: "Bearer ak_ghost" })).toMatchObject({
      plan: "free",
      via: "api-key",
    })
  })
})

describe("a Clerk token", () => {
  test("is verified with the keys of the Backend API, fetched once, if the settings contain no key", async () => {
    const token = await clerk.mint(claims())
    const before = clerk.asked.length
    const settings = { jwtKey: undefined }
    expect(await sessionBy({ authorization: `Bearer ${token}` }, settings)).toMatchObject({
      userId: "user_ada",
    })
    expect(await sessionBy({ authorization: `Bearer ${token}` }, settings)).toMatchObject({
      userId: "user_ada",
    })
    expect(clerk.asked.slice(before).filter((call) => call === "GET /v1/jwks").length).toBeLessThanOrEqual(1)
  })

  test("made from the template opens the live connection but no session", async () => {
    clerk.users.set("user_ada", {
      id: "user_ada",
      email: "ada@example.org",
      name: ["Ada", "Lovelace"],
      plan: "free",
    })
    const session = await clerk.mint(claims())
    const issued = await within({ authorization: `Bearer ${session}` }, (identity, args) =>
      identity.issueRealtimeToken(args),
    )
    const identity = await open()
    expect(await identity.verifyRealtimeToken(issued?.token ?? "")).toEqual({
      userId: "user_ada",
      sessionId: "sess_ada",
      plan: "free",
      via: "session-bearer",
      expiresAt: issued?.expiresAt,
    })
    await expect(identity.verifyRealtimeToken(session)).rejects.toThrow("aud")
    expect(await sessionBy({ authorization: `Bearer ${issued?.token}` })).toBeNull()
  })

  test("causes an error that says what to configure if the template does not produce it", async () => {
    const session = await clerk.mint(claims({ sid: "session-without-template" }))
    const issue = within({ authorization: `Bearer ${session}` }, (identity, args) =>
      identity.issueRealtimeToken(args),
    )
    await expect(issue).rejects.toThrow(`JWT template "tideline-realtime"`)
  })
})

describe("a Clerk user", () => {
  test("is cached for a minute, unless a fresh record is requested", async () => {
    const identity = await open()
    const user: ClerkUser = {
      id: "user_alan",
      email: "alan@example.org",
      name: ["Alan", "Turing"],
      plan: "free",
    }
    clerk.users.set("user_alan", user)
    expect(await identity.getUser("user_alan")).toEqual({
      id: "user_alan",
      email: "alan@example.org",
      emailVerified: true,
      holderConfirmed: true,
      name: "Alan Turing",
      imageUrl: "https://img.clerk.com/user_alan",
      plan: "free",
    })
    clerk.users.set("user_alan", { ...user, email: "turing@example.org", plan: "pro" })
    expect(await identity.getUser("user_alan")).toMatchObject({ email: "alan@example.org", plan: "free" })
    expect(await identity.getUser("user_alan", { fresh: true })).toMatchObject({
      email: "turing@example.org",
      plan: "pro",
    })
    expect(await identity.getUser("user_alan")).toMatchObject({ email: "turing@example.org", plan: "pro" })
  })

  test("is renamed at Clerk, and has the new name immediately", async () => {
    const identity = await open()
    clerk.users.set("user_mary", {
      id: "user_mary",
      email: "mary@example.org",
      name: ["Mary", "Fairfax"],
      plan: "free",
    })
    await identity.getUser("user_mary")
    await identity.updateUser("user_mary", { name: "Mary Fairfax Somerville" })
    expect((await identity.getUser("user_mary"))?.name).toBe("Mary Fairfax Somerville")
  })

  test("is null if Clerk does not know the id, and an error if Clerk is unavailable", async () => {
    expect(await (await open()).getUser("user_nobody")).toBeNull()
    await expect((await open({ apiUrl: "http://127.0.0.1:9" })).getUser("user_ada")).rejects.toThrow()
  })
})
