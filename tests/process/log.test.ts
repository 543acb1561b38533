import { expect, it } from "vitest"
import { findEmail } from "../support/inbox.ts"
import { postJson, signIn, signUp } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app, sql } = withTideline({ settings: { LOG_LEVEL: "trace" } })

it("the log has each response under the id in its header, without the query", async () => {
  const response = await fetch(`${app.origin}/features?token=in-the-query`)
  const requestId = response.headers.get("x-request-id")
  await expect.poll(() => app.log.join("\n")).toContain(requestId)
  const line = app.log.find((each) => each.includes(String(requestId))) ?? ""
  expect(JSON.parse(line)).toMatchObject({ method: "GET", path: "/features", status: 200, msg: "request" })
  expect(JSON.parse(line).time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  expect(app.log.join("\n")).not.toContain("in-the-query")
})

it("the log records who signed in from where, and which attempts were refused, without the claimed address", async () => {
  const grace = await signUp(app, { name: "Grace", email: "grace@example.org" })
  const guess = { email: "grace@example.org", password: "a guess of somebody else" }
  expect((await postJson(grace, "/api/auth/sign-in/email", guess)).status).toBe(401)
  await signIn(app, grace)
  const events = () =>
    app.log
      .filter((line) => line.includes('"msg":"account"'))
      .map((line) => JSON.parse(line) as { event: string; user: string | null; refused: number | null })
  await expect.poll(() => events().filter(({ event }) => event === "sign-in").length).toBe(2)
  const [signedUp, refused, signedIn] = events()
  expect(signedUp).toMatchObject({ event: "sign-up", user: expect.any(String), refused: null })
  expect(refused).toMatchObject({ event: "sign-in", user: null, from: "127.0.0.1", refused: 401 })
  expect(signedIn).toMatchObject({ event: "sign-in", user: signedUp?.user, refused: null })
  await grace.apiKey()
  await postJson(grace, "/api/auth/request-password-reset", { email: "grace@example.org" })
  const about = (event: string) => events().find((each) => each.event === event)
  await expect.poll(() => about("key made")).toMatchObject({ user: signedUp?.user, from: "127.0.0.1" })
  await expect.poll(() => about("reset asked for")).toMatchObject({ from: "127.0.0.1", refused: null })
  expect(app.log.join("\n")).not.toContain("grace@example.org")
})

it("the log does not record refusals as errors, or with a stack trace", async () => {
  const elsewhere = "https://evil.example"
  const send = (path: string, init: RequestInit) =>
    fetch(app.origin + path, { method: "POST", redirect: "manual", ...init })
  const form = new URLSearchParams({ email: "grace@example.org", password: "whatever it may be" })
  const json = (body: string, headers = {}) => ({
    body,
    headers: { "content-type": "application/json", origin: app.origin, ...headers },
  })
  const cookie = "tideline.session_token=none"
  const statuses = []
  for (const path of [
    "/sign-in",
    "/sign-up",
    "/sign-in/forgot-password",
    "/waitlist",
    "/dashboard/account",
  ]) {
    for (const at of [path, `${path}.data`]) {
      for (const origin of [elsewhere, "null", "no address"])
        statuses.push((await send(at, { body: form, headers: { origin } })).status)
      statuses.push((await send(at, { body: form, headers: { "sec-fetch-site": "cross-site" } })).status)
    }
  }
  expect(new Set(statuses)).toEqual(new Set([403]))
  for (const init of [
    json("{"),
    json("[]"),
    json('{"email":5}'),
    json('{"email":"grace@example.org","password":"a guess of somebody else"}'),
    json(
      '{"email":"grace@example.org","password":"a guess","callbackURL":"https://evil.example\\n{\\"level\\":60}"}',
    ),
    json("{}", { origin: elsewhere }),
    json("{}", { origin: elsewhere, cookie }),
    json("{}", { cookie, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }),
  ]) {
    const { status } = await send("/api/auth/sign-in/email", init)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
  }
  for (const path of ["/verify-email?token=bad&callbackURL=https://evil.example", "/callback/github?code=x"])
    await send(`/api/auth${path}`, { method: "GET" })
  await send("/api/auth/sign-in/social", json('{"provider":"github"}'))
  await send("/api/auth/reset-password", json('{"token":"none","newPassword":"a password of ten"}'))
  await send("/api/files", { headers: { authorization: "Bearer tide_nonsense" } })

  const last = await fetch(`${app.origin}/api/health`)
  await expect.poll(() => app.log.join("\n")).toContain(last.headers.get("x-request-id"))
  expect(app.log.filter((line) => !line.startsWith("{"))).toEqual([])
  const entries = app.log.map((line) => JSON.parse(line) as { level: number; err?: unknown })
  expect(entries.filter(({ level, err }) => level >= 40 || err !== undefined)).toEqual([])
})

it("the log contains no password, cookie, key, token, email, message or file, even if statements fail", async () => {
  const password = "a password that nobody may read"
  const ada = await signUp(app, { name: "Ada", email: "ada@example.org", password })
  await signIn(app, { email: ada.email, password })
  const refused = await postJson(ada, "/api/auth/sign-in/email", {
    email: ada.email,
    password: "a wrong guess of hers",
  })
  expect(refused.status).toBe(401)
  const key = await ada.apiKey()
  await fetch(`${app.origin}/api/files`, { headers: { authorization: `Bearer ${key}` } })
  const { token } = (await (await ada("/api/realtime/token")).json()) as { token: string }

  await postJson(ada, "/api/auth/request-password-reset", { email: ada.email })
  const message = await findEmail(app, ada.email, /password/i)
  const link = /https?:\/\/\S+/.exec(message.text)?.[0] ?? ""

  const form = new FormData()
  form.append("file", new Blob(["what is in her file"]), "hers.txt")
  const uploaded = (await (await ada("/api/files", { method: "POST", body: form })).json()) as {
    files: { _id: string }[]
  }
  const made = await postJson(ada, `/api/files/${uploaded.files[0]?._id}/shares`, {
    password: "the password of her link",
  })
  const { url } = (await made.json()) as { url: string }
  await fetch(url)

  const parts = [{ type: "text", text: "what she asks in confidence" }]
  const question = { messages: [{ id: "q", role: "user", parts }] }
  const answer = await postJson(ada, "/api/chat", question)
  expect(answer.status).toBe(200)
  await answer.text()

  // Failed statements are logged, and Drizzle puts their values into the error.
  const thread = (await (await postJson(ada, "/api/chat/threads", {})).json()) as { thread: { _id: string } }
  await sql`alter table chat_messages rename to chat_messages_away`
  const failed = await postJson(ada, "/api/chat", { ...question, threadId: thread.thread._id })
  expect(failed.status).toBe(500)
  await sql`alter schema auth rename to auth_away`
  const away = await fetch(`${app.origin}/api/files`, { headers: { cookie: ada.cookie() } })
  expect(away.status).toBe(500)

  const log = app.log.join("\n")
  expect(log).toContain("Failed query")
  const secrets = {
    password,
    guess: "a wrong guess of hers",
    cookie: decodeURIComponent(/session_token=([^;.]+)/.exec(ada.cookie())?.[1] ?? ""),
    key,
    token,
    reset: new URL(link).searchParams.get("token") ?? new URL(link).pathname.split("/").at(-1) ?? "",
    file: "what is in her file",
    share: new URL(url).pathname.split("/").at(-1) ?? "",
    sharePassword: "the password of her link",
    question: "what she asks in confidence",
  }
  for (const [what, secret] of Object.entries(secrets)) {
    expect(secret.length, what).toBeGreaterThan(10)
    expect(log.includes(secret), what).toBe(false)
  }
})
