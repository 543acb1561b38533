import { afterEach, describe, expect, test } from "vitest"
import routes from "#app/routes.ts"
import { openBrowser, postJson } from "../support/people.ts"
import { pathsOf } from "../support/space-pages.ts"
import { withTideline } from "../support/with-tideline.ts"

const PASSWORD = "an engine of brass and cards"

const { app, ada } = withTideline({
  people: { ada: { name: "Ada", email: "ada@example.org" } },
  onboarded: true,
})

afterEach(() => expect(app.log.splice(0).filter((line) => line.includes('"level":50'))).toEqual([]))

// PostgreSQL stores neither NUL nor half of a surrogate pair.
describe("a text that cannot be stored", () => {
  test("is found at no URL", async () => {
    const answers = new Map<string, number>()
    for (const path of pathsOf(routes).filter((each) => /[:*]/.test(each))) {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"])
        answers.set(`${method} ${path}`, await statusOf(method, path.replaceAll(/:\w+|\*/g, "%00")))
    }
    expect([...answers].filter(([, status]) => status >= 500)).toEqual([])
    expect(answers.get("GET /s/:slug/chat")).toBe(404)
  })

  test("fails in the query of no URL", async () => {
    const answers = new Map<string, number>()
    for (const path of pathsOf(routes).filter((each) => each !== "/sign-out")) {
      const address = `${path.replaceAll(/:\w+|\*/g, "x")}?${QUERY}`
      for (const method of ["GET", "POST", "DELETE"])
        answers.set(`${method} ${path}`, await statusOf(method, address))
    }
    expect([...answers].filter(([, status]) => status >= 500)).toEqual([])
  })

  test.each<[string, object]>([
    ["/api/chat/threads", { question: "a\0b" }],
    ["/api/chat/threads", { question: "half \ud83c" }],
    ["/api/files/archive", { ids: ["\0"] }],
    ["/api/spaces", { name: "a\0b" }],
    ["/api/spaces/join", { token: "\0" }],
    ["/api/auth/api-key/create", { name: "half \ud83c" }],
    ["/api/auth/api-key/delete", { keyId: "\0" }],
    ["/api/auth/two-factor/enable", { password: "\0" }],
  ])("is refused in the body of %s: %j", async (path, body) => {
    expect((await postJson(ada, path, body)).status).toBe(400)
  })

  test("is cleaned in the name of a file and in an email", async () => {
    const stored = await ada("/api/files?name=a.txt", { method: "POST", body: "x" })
    const { files } = (await stored.json()) as { files: { _id: string }[] }
    const body = JSON.stringify({ fileName: "b\0c.txt" })
    const renamed = await ada(`/api/files/${files[0]?._id}`, { method: "PATCH", body })
    expect(await renamed.json()).toMatchObject({ file: { fileName: "bc.txt" } })
    const sent = await postJson(ada, "/api/email", { template: "welcome", name: "A\0da \ud83c" })
    expect(sent.status).toBe(200)
  })

  test.each<[string, object]>([
    ["api-key/delete", { keyId: "\0" }],
    ["reset-password", { token: "\0", newPassword: PASSWORD }],
    ["request-password-reset", { email: "ada\0@example.org" }],
    ["sign-in/email", { email: "ada\0@example.org", password: PASSWORD }],
    ["sign-up/email", { name: "Ada", email: "ada\0@example.org", password: PASSWORD }],
  ])("is refused without a session in the body of /api/auth/%s", async (path, body) => {
    const refused = await postJson(openBrowser(app), `/api/auth/${path}`, body)
    const error = expect.objectContaining({ code: "VALIDATION_ERROR" })
    expect([refused.status, await refused.json()]).toEqual([400, error])
  })

  test.each<[string, Record<string, string>]>([
    ["/sign-in", { email: "ada\0@example.org", password: PASSWORD }],
    ["/sign-in/new-password", { token: "\0", password: PASSWORD }],
    ["/waitlist", { email: "ada\0@example.org" }],
  ])("is refused without a session in the form of %s", async (path, fields) => {
    expect(await statusOfForm(openBrowser(app), path, fields)).toBe(400)
  })

  test.each<Record<string, string>>([
    { intent: "end-session", sessionId: "\0" },
    { intent: "delete-key", keyId: "\0" },
    { intent: "remove-passkey", passkeyId: "\0", current: PASSWORD },
    { intent: "rename-passkey", passkeyId: "\0", name: "A key" },
    { intent: "delete-account", confirmation: PASSWORD, "space-\0": "delete" },
  ])("is refused in the form of the account page: $intent", async (fields) => {
    expect(await statusOfForm(ada, "/dashboard/account", fields)).toBe(400)
  })
})

/** Every parameter that some URL takes. */
const QUERY = [
  "after before confirmed cursor did done download error id invitation joined limit name of page",
  "permanently problem q recovery redirect_url refused reset secret sent signed_out sort spaceId state",
  "threadId to token updates view",
]
  .flatMap((names) => names.split(" "))
  .map((name) => `${name}=%00`)
  .join("&")

/** Of a request that the OpenAPI document need not describe. */
async function statusOf(method: string, path: string): Promise<number> {
  const headers = { cookie: ada.cookie(), origin: app.origin }
  const response = await fetch(app.origin + path, { method, headers, redirect: "manual" })
  await response.body?.cancel()
  return response.status
}

async function statusOfForm(browser: ReturnType<typeof openBrowser>, path: string, fields: object) {
  const body = new URLSearchParams(Object.entries(fields))
  return (await browser(path, { method: "POST", body })).status
}
