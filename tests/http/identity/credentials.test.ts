import type { RouteConfigEntry } from "@react-router/dev/routes"
import { beforeAll, describe, expect, test } from "vitest"
import routes from "#app/routes.ts"
import { openLiveSocket, realtimeToken } from "../../support/live.ts"
import { postJson, type Person } from "../../support/people.ts"
import { withTideline } from "../../support/with-tideline.ts"

const ACCOUNT = "/dashboard/account"
const REASON =
  "This address takes a browser session. An API key or another bearer credential does not open it."

const NOTHING = "There is nothing at this URL. The API is below /api, and /api/openapi.json describes it."

let key: string
const { app, sql, ada } = withTideline({
  people: { ada: { name: "Ada", email: "ada@example.org" } },
  onboarded: true,
})

beforeAll(async () => {
  key = await ada.apiKey()
})

describe("an API key on a page", () => {
  test.each([
    ["creates no key", { intent: "create-key", name: "one that outlives", days: "90", chat: "on" }],
    ["ends no session", { intent: "end-other-sessions" }],
    ["saves no profile", { intent: "save-profile", name: "Mallory" }],
    ["removes no picture", { intent: "remove-picture" }],
    ["changes no password", { intent: "change-password", current: "PASSWORD", password: "a stolen engine" }],
    ["deletes no account", { intent: "delete-account", confirmation: "PASSWORD" }],
  ])("%s on the account page", async (_, { intent, ...fields }) => {
    const before = await stateOf(ada)
    for (const path of [ACCOUNT, `${ACCOUNT}.data`]) {
      const values = Object.entries(fields).map(([name, value]) => [
        name,
        value.replace("PASSWORD", ada.password),
      ])
      const body = new URLSearchParams([["intent", intent], ...values])
      expect(await refusalOf(await send(path, { method: "POST", body }))).toEqual([401, REASON])
    }
    expect(await stateOf(ada)).toEqual(before)
  })

  test("signs nobody out", async () => {
    expect(await refusalOf(await send("/sign-out", { method: "POST" }))).toEqual([401, REASON])
    expect((await ada(ACCOUNT)).status).toBe(200)
  })

  test("is refused with a header that names the credential as the cause", async () => {
    const refused = await send("/dashboard")
    expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="tideline", error="invalid_token"')
    expect(refused.headers.get("set-cookie")).toBeNull()
  })

  test("opens no page or page data, nor anything else it is not for", async () => {
    const opened = []
    for (const path of ADDRESSES.filter((address) => !/^\/(api|trpc)/.test(address))) {
      for (const address of [path, path === "/" ? "/_root.data" : `${path}.data`]) {
        const visitor = await fetch(app.origin + address, { redirect: "manual" })
        const caller = await send(address)
        const needsSession = /sign-in\?redirect_url/.test(
          visitor.headers.get("location") ?? (await visitor.text()),
        )
        const [status, error] = await refusalOf(caller)
        const isRefused = (status === 401 && error === REASON) || (status === 404 && error === NOTHING)
        if (needsSession ? !isRefused : status !== visitor.status)
          opened.push([address, visitor.status, status])
      }
    }
    expect(opened).toEqual([])
  })

  test("is treated as a visitor on a public page", async () => {
    expect((await send("/sign-in")).status).toBe(200)
    expect((await ada("/sign-in")).status).toBe(302)
  })
})

describe("an API key under /api", () => {
  test("opens what the OpenAPI document lists, and nothing else under /api", async () => {
    const { paths } = (await (await fetch(`${app.origin}/api/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { security: Record<string, string[]>[] }>>
    }
    const wrong = []
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { security }] of Object.entries(methods)) {
        const takesKeys = security.some((way) => "bearer" in way)
        const isOpen = security.some((way) => Object.keys(way).length === 0)
        const headers = { authorization: `Bearer ${key}` }
        const address = app.origin + path.replaceAll(/\{\w+\}/g, "01a1fabb-7bb3-7c55-803b-f2a3db625462")
        const { status } = await fetch(address, { method: method.toUpperCase(), headers })
        if ((status === 401) === (takesKeys || isOpen)) wrong.push([method, path, status])
      }
    }
    expect(wrong).toEqual([])
  })

  test("learns at unknown URLs where the API is, and so does a program without a valid key", async () => {
    for (const path of ["/v1", "/v1/models", "/v1/chat/completions", "/openai/v1/models", "/graphql"]) {
      for (const method of ["GET", "POST"]) {
        const known = await send(path, { method })
        expect([path, method, ...(await refusalOf(known))]).toEqual([path, method, 404, NOTHING])
        const unknown = await send(path, { method }, "no-key")
        expect([path, method, ...(await refusalOf(unknown))]).toEqual([path, method, 401, NOTHING])
      }
    }
    expect(await refusalOf(await fetch(`${app.origin}/v1/models`))).toEqual([401, NOTHING])
    // A visitor's browser is still led to the sign-in page, and keys open no page.
    const browser = await fetch(`${app.origin}/nowhere`, { redirect: "manual" })
    expect(browser.headers.get("location")).toContain("/sign-in")
    expect(await refusalOf(await send("/dashboard"))).toEqual([401, REASON])
    const refused = await send("/dashboard", {}, "no-key")
    expect(refused.headers.get("location")).toContain("/sign-in")
  })

  test("cannot change the user record, over HTTP or over the socket", async () => {
    const headers = { authorization: `Bearer ${key}` }
    const sync = await fetch(`${app.origin}/api/users/sync`, { method: "POST", headers, body: "{}" })
    expect(await refusalOf(sync)).toEqual([401, REASON])

    const withKey = (path: string) => fetch(app.origin + path, { headers })
    const socket = await openLiveSocket(app, await realtimeToken(withKey as Person))
    const [user] = await sql`select clerk_id from users where email = ${ada.email}`
    const record = { clerkId: user?.["clerk_id"], email: ada.email, name: "Mallory", plan: "free" }
    for (const [mutation, args] of [
      ["users.saveProfile", { name: "Mallory" }],
      ["users.createOrUpdateUser", record],
    ] as const) {
      expect(await socket.mutate(mutation, args)).toMatchObject({ error: { code: "forbidden" } })
    }
    expect((await stateOf(ada)).user).toMatchObject({ name: "Ada" })
    socket.close()
  })

  test("cannot manage the account at the identity provider", async () => {
    const before = await stateOf(ada)
    expect((await postJson(send, "/api/auth/api-key/create", { name: "more" })).status).toBe(401)
    expect((await send("/api/auth/api-key/list", {})).status).toBe(401)
    const passwords = { currentPassword: ada.password, newPassword: "a stolen engine" }
    expect((await postJson(send, "/api/auth/change-password", passwords)).status).toBe(401)
    expect(await stateOf(ada)).toEqual(before)
  })
})

/**
 * Every URL of the product that is matched by more than a splat, with a value for each parameter.
 */
const ADDRESSES = routes.flatMap((entry) => addressesOf(entry)).filter((address) => !address.endsWith("*"))

function addressesOf({ path, index, children = [] }: RouteConfigEntry): string[] {
  const own =
    path === undefined ? (index ? ["/"] : []) : [`/${path.replaceAll(/:\w+/g, "x").replace("/*", "")}`]
  return [...own, ...children.flatMap(addressesOf)]
}

function send(path: string, init: RequestInit = {}, bearer = key) {
  const headers = new Headers(init.headers)
  headers.set("authorization", `Bearer ${bearer}`)
  return fetch(app.origin + path, { redirect: "manual", ...init, headers })
}

async function refusalOf(response: Response): Promise<[number, unknown]> {
  const text = await response.text()
  try {
    return [response.status, (JSON.parse(text) as { error?: unknown }).error]
  } catch {
    return [response.status, null]
  }
}

async function stateOf({ email }: Person) {
  const [user] = await sql`select id, name from auth.user where email = ${email}`
  const id = String(user?.["id"])
  return {
    user,
    keys: await sql`select id from auth.apikey where reference_id = ${id}`,
    sessions: await sql`select id from auth.session where user_id = ${id}`,
    password: await sql`select password from auth.account where user_id = ${id}`,
  }
}
