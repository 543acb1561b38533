import { beforeAll, describe, expect, it } from "vitest"
import { neededScope } from "#server/live-functions.ts"
import { openLiveSocket, realtimeToken } from "../../support/live.ts"
import { openBrowser, postJson, type Person } from "../../support/people.ts"
import { withTideline } from "../../support/with-tideline.ts"

let fileId: string
let threadId: string
const { app, sql, ada } = withTideline({
  people: { ada: { name: "Ada", email: "ada@example.org" } },
  onboarded: true,
})

beforeAll(async () => {
  await ada("/api/files?name=notes.txt", { method: "POST", body: "the analytical engine" })
  await postJson(ada, "/api/chat/threads", { title: "Punched cards" })
  const [made] = await sql`select files._id as file, chat_threads._id as thread from files, chat_threads`
  fileId = String(made?.["file"])
  threadId = String(made?.["thread"])
})

type Call = () => { method: string; path: string; body?: object }

const CALLS: Record<"files:read" | "files:write" | "chat" | "email", Call> = {
  "files:read": () => ({ method: "GET", path: `/api/files/${fileId}` }),
  "files:write": () => ({ method: "PATCH", path: `/api/files/${fileId}`, body: { fileName: "renamed.txt" } }),
  chat: () => ({ method: "GET", path: `/api/chat/threads/${threadId}/messages` }),
  email: () => ({ method: "POST", path: "/api/email", body: {} }),
}

describe.each(Object.keys(CALLS) as (keyof typeof CALLS)[])("a key with the scope %s", (scope) => {
  it("opens what the scope names and nothing else over HTTP", async () => {
    const key = await createKey({ [scope]: "on" })
    for (const [needed, call] of Object.entries(CALLS)) {
      const { method, path, body } = call()
      const response = await send(key, path, {
        method,
        ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      })
      if (needed === scope) expect(response.status, path).not.toBe(403)
      else {
        expect(response.status, path).toBe(403)
        expect(response.headers.get("www-authenticate")).toBe(
          `Bearer realm="tideline", error="insufficient_scope", scope="${needed}"`,
        )
        expect(await response.json()).toEqual({
          error: `This API key does not have the scope ${needed}. Create a key that has it.`,
        })
      }
    }
  })

  it("calls what the scope names and nothing else on the socket", async () => {
    const key = await createKey({ [scope]: "on" })
    const socket = await openLiveSocket(app, await realtimeToken(asPerson(key)))
    const outcomes = {
      "files:read": await socket.query("files.list", {}),
      "files:write": await socket.mutate("files.rename", { fileId, fileName: "renamed again.txt" }),
      chat: await socket.query("chat.listThreads", {}),
    }
    const subscribed = await socket.subscribe("chat.listMessages", { threadId })
    socket.close()
    for (const [needed, outcome] of Object.entries(outcomes)) {
      if (needed === scope) expect(outcome, needed).not.toHaveProperty("error")
      else expect(outcome, needed).toMatchObject({ error: { code: "forbidden" } })
    }
    expect(subscribed.refused.map(({ error }) => error.code)).toEqual(scope === "chat" ? [] : ["forbidden"])
  })
})

it("a limited key neither reads nor changes its owner's record or devices, and a key without limits reads them", async () => {
  const everything = Object.fromEntries(["files:read", "chat"].map((scope) => [scope, "on"]))
  const [user] = await sql`select clerk_id from users where email = ${ada.email}`
  const mine = { clerkId: String(user?.["clerk_id"]) }
  const limited = await openLiveSocket(app, await realtimeToken(asPerson(await createKey(everything))))
  const refused = { error: { code: "forbidden" } }
  expect(await limited.query("users.getUserByClerkId", mine)).toMatchObject(refused)
  expect(await limited.query("users.getOnboardingStatus", {})).toMatchObject(refused)
  expect(await limited.query("devices.list", {})).toMatchObject(refused)
  expect(await limited.mutate("users.reopenOnboardingStep", { step: "profile" })).toMatchObject(refused)
  expect(await limited.query("maintenance.listClosures", {})).not.toHaveProperty("error")
  limited.close()

  const whole = await openLiveSocket(app, await realtimeToken(asPerson(await ada.apiKey())))
  expect(await whole.query("users.getUserByClerkId", mine)).not.toHaveProperty("error")
  expect(await whole.query("devices.list", {})).not.toHaveProperty("error")
  // A key opens the application and not the account.
  expect(await whole.mutate("users.reopenOnboardingStep", { step: "profile" })).toMatchObject(refused)
  whole.close()
})

it("a function that declares no scope is closed to limited keys", () => {
  expect(neededScope({ kind: "query", name: "billing.list" })).toBe("unlimited")
  expect(neededScope({ kind: "mutation", name: "toString" })).toBe("unlimited")
})

it("a key for reading and writing files uploads by the tus protocol, and one for reading does not", async () => {
  expect((await create(await createKey({ "files:read": "on" }))).status).toBe(403)
  const created = await create(await createKey({ "files:read": "on", "files:write": "on" }))
  expect(created.status).toBe(201)
})

it("a key with every scope, and one made before there were scopes, are not limited", async () => {
  const all = Object.fromEntries(Object.keys(CALLS).map((scope) => [scope, "on"]))
  for (const key of [await createKey(all), await ada.apiKey()]) {
    expect((await send(key, "/api/files")).status).toBe(200)
    expect((await send(key, "/api/chat/threads")).status).toBe(200)
  }
})

it("scopes that the server cannot read open nothing", async () => {
  const key = await createKey({ chat: "on" })
  await sql`update auth.apikey set permissions = '{"tideline":["everything"]}' where start = ${key.slice(0, 9)}`
  expect((await send(key, "/api/chat/threads")).status).toBe(403)
})

it("a key that may do nothing, or that has an unknown life, is not created", async () => {
  const nothing = await submit({})
  expect([nothing.status, await nothing.text()]).toEqual([
    400,
    expect.stringContaining("Choose at least one thing that the key may do."),
  ])
  const unknown = await submit({ chat: "on", days: "5000" })
  expect([unknown.status, await unknown.text()]).toEqual([
    400,
    expect.stringContaining("Choose when the key expires."),
  ])
})

it("a key ends when it expires, and its live connection with it", async () => {
  const key = await createKey({ chat: "on", days: "30" })
  const [row] = await sql`select expires_at from auth.apikey where start = ${key.slice(0, 9)}`
  expect(Math.round((Number(row?.["expires_at"]) - Date.now()) / 86_400_000)).toBe(30)
  const socket = await openLiveSocket(app, await realtimeToken(asPerson(key)))
  await sql`update auth.apikey set expires_at = now() where start = ${key.slice(0, 9)}`
  await socket.until(({ name }) => name === "goodbye")
  expect((await send(key, "/api/chat/threads")).status).toBe(401)
})

it("the account page shows what a key may do, when it expires, and from where it was used last", async () => {
  const key = await createKey({ "files:read": "on", days: "never", name: "a camera" })
  await send(key, "/api/files")
  const page = await (await ada("/dashboard/account")).text()
  const item = page.slice(page.indexOf("a camera</p>")).split("</li>")[0] ?? ""
  const shown = item.replaceAll(/<!-- -->|<[^>]*>/g, "")
  expect(shown).toContain("from 127.0.0.1")
  expect(shown).toContain("Read files · does not expire")
})

function create(key: string) {
  return send(key, "/api/files/uploads", {
    method: "POST",
    headers: {
      "tus-resumable": "1.0.0",
      "upload-length": "3",
      "upload-metadata": `filename ${btoa("a.txt")}`,
    },
  })
}

/** Creates a key with the account page's form. */
async function createKey(fields: Record<string, string>): Promise<string> {
  const response = await submit(fields)
  const text = await response.text()
  const [, key] = /(tide_[A-Za-z]{20,})/.exec(text) ?? []
  if (!key) throw new Error(`No key was made: ${response.status} ${text.slice(0, 500)}`)
  return key
}

function submit(fields: Record<string, string>) {
  const body = new URLSearchParams({ intent: "create-key", name: "a script", days: "90", ...fields })
  return ada("/dashboard/account", { method: "POST", body })
}

function send(key: string, path: string, init: RequestInit = {}) {
  const headers = new Headers(init.headers)
  headers.set("authorization", `Bearer ${key}`)
  return fetch(app.origin + path, { ...init, headers })
}

function asPerson(key: string): Person {
  const browser = openBrowser(app)
  return Object.assign((path: string) => send(key, path), browser) as unknown as Person
}
