import { beforeAll, describe, expect, it } from "vitest"
import { startTideline } from "../support/app.ts"
import { openBrowser, postJson } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

let file: string
let asset: string

const { app, ada } = withTideline({
  settings: { SECURITY_CONTACT: "mailto:security@example.org" },
  people: { ada: { name: "Ada", email: "ada@example.org" } },
})

beforeAll(async () => {
  const form = new FormData()
  form.append("file", new Blob(["<script>alert(1)</script>"]), "page.html")
  const uploaded = await (await ada("/api/files", { method: "POST", body: form })).json()
  file = (uploaded as { files: { _id: string }[] }).files[0]?._id ?? ""
  asset = /\/assets\/[\w-]+\.(?:js|css)/.exec(await (await fetch(app.origin)).text())?.[0] ?? ""
})

const answers: Record<string, [status: number, ask: () => Promise<Response>]> = {
  "a page": [200, () => ada("/features")],
  "a cached page": [200, () => fetch(`${app.origin}/features`)],
  "a page of the dashboard": [302, () => ada("/dashboard/files")],
  "a page's data": [200, () => fetch(`${app.origin}/features.data`)],
  "a page that is missing": [404, () => ada("/no-such-page")],
  "the redirect to sign in": [302, () => ask("/dashboard")],
  "a built file": [200, () => ask(asset)],
  "a built file that is missing": [404, () => ask("/assets/missing-1234.js")],
  "an icon": [200, () => ask("/favicon.svg")],
  "the health check": [200, () => ask("/api/health")],
  "a list": [200, () => ada("/api/files")],
  "a file of a person": [200, () => ada(`/api/files/${file}`)],
  "a refusal without a session": [401, () => ask("/api/chat/threads")],
  "a refusal of invalid JSON": [400, () => ada("/api/chat/threads", { method: "POST", body: "{" })],
  "a refusal for the origin": [
    403,
    () =>
      ada("/api/chat/threads", { method: "POST", body: "{}", headers: { origin: "https://evil.example" } }),
  ],
  "a refusal for the method": [405, () => ask("/api/health", { method: "DELETE" })],
  "a refusal for the size": [
    413,
    () => postJson(ada, "/api/chat", { messages: [{ role: "user", content: "x".repeat(3_000_000) }] }),
  ],
  "an unknown API path": [404, () => ada("/api/nothing")],
  "an unknown share link": [404, () => ask("/share/nothing")],
  "an event stream": [200, () => ask("/demo", { headers: { accept: "text/event-stream" } })],
}

describe("every response", () => {
  it.each(Object.entries(answers))("has the security headers: %s", async (_, [status, request]) => {
    const response = await request()
    await response.body?.cancel()
    expect(response.status).toBe(status)
    const header = (name: string) => response.headers.get(name) ?? ""
    expect(header("content-security-policy")).toContain("default-src 'none'")
    // Uploaded files may be shown in a frame of ours, without any script.
    if (header("content-security-policy").endsWith("; sandbox"))
      expect(header("x-frame-options")).toBe("SAMEORIGIN")
    else {
      expect(header("content-security-policy")).toContain("frame-ancestors 'none'")
      expect(header("x-frame-options")).toBe("DENY")
    }
    expect(header("x-content-type-options")).toBe("nosniff")
    expect(header("referrer-policy")).toMatch(/^(strict-origin-when-cross-origin|same-origin)$/)
    expect(header("cross-origin-opener-policy")).toBe("same-origin-allow-popups")
    expect(header("cross-origin-resource-policy")).toBe("same-origin")
    expect(header("permissions-policy")).toContain("camera=()")
    expect(header("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
    expect(header("x-powered-by")).toBe("")
    expect(header("server")).toBe("")
    expect(header("access-control-allow-origin")).toBe("")
    // Every text must declare its encoding.
    const isTheirs = header("content-disposition").startsWith("attachment")
    if (
      !isTheirs &&
      /^(text\/(html|plain|css|javascript|xml)|application\/(json|xml))/.test(header("content-type"))
    )
      expect(header("content-type")).toMatch(/charset=utf-8|event-stream/i)
  })

  it.each([
    "/api/files",
    "/dashboard",
    "/api/chat/threads",
    "/api/realtime/token",
    "/onboarding",
    "/onboarding.data",
  ])("with personal data is never cached: %s", async (path) => {
    const response = await ada(path)
    expect(response.headers.get("cache-control")).toContain("no-store")
  })
})

describe("a page whose URL contains a secret", () => {
  it.each([
    "/sign-in/new-password?token=secret",
    "/sign-in/new-password.data?token=secret",
    "/sign-up?invitation=secret",
    "/sign-up/confirm?token=secret",
    "/sign-up/confirm.data?token=secret",
    "/waitlist/confirm?token=secret",
    "/share/secret",
    "/api/auth/verify-email?token=secret&callbackURL=/dashboard",
  ])("is never cached, and its URL is not sent to other sites: %s", async (path) => {
    const { headers } = await ask(path, { redirect: "manual" })
    expect(headers.get("cache-control")).toContain("no-store")
    if (!path.startsWith("/api/")) expect(headers.get("referrer-policy")).toBe("same-origin")
    expect(headers.get("location") ?? "").not.toContain("secret")
  })
})

describe("a password field", () => {
  it.each([
    ["/sign-in", "current-password"],
    ["/sign-up", "new-password"],
    ["/sign-in/new-password?token=secret", "new-password"],
  ])("hides what is typed, and is recognised by password managers: %s", async (path, autocomplete) => {
    const html = await (await ask(path)).text()
    const fields = [...html.matchAll(/<input[^>]*name="password"[^>]*>/g)].map(([field]) => field)
    expect(fields).toHaveLength(1)
    expect(fields[0]).toContain('type="password"')
    expect(fields[0]).toMatch(new RegExp(`autocomplete="${autocomplete}"`, "i"))
    expect(fields[0]).not.toMatch(/onpaste|readonly/i)
  })
})

describe("a cookie", () => {
  it("that signs in cannot be read by scripts, and is not sent for other sites", async () => {
    const response = await postJson(openBrowser(app), "/api/auth/sign-in/email", {
      email: ada.email,
      password: ada.password,
    })
    expect(response.headers.getSetCookie().length).toBeGreaterThan(0)
    for (const cookie of response.headers.getSetCookie()) {
      expect(cookie).toMatch(/; HttpOnly/i)
      expect(cookie).toMatch(/; SameSite=Lax/i)
      expect(cookie).toMatch(/; Path=\//i)
      expect(cookie).not.toMatch(/; Domain=/i)
    }
  })

  it("is sent over TLS only, and bound to this host, if the site uses TLS", async () => {
    const secure = await startSecure()
    try {
      const response = await fetch(`http://127.0.0.1:${secure.port}/api/auth/sign-up/email`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: "https://tideline.example.org" },
        body: JSON.stringify({ name: "Ada", email: "ada@example.org", password: "an engine of brass" }),
      })
      expect(response.status).toBe(200)
      const cookies = response.headers.getSetCookie()
      expect(cookies.length).toBeGreaterThan(0)
      for (const cookie of cookies) expect(cookie).toMatch(/^__(Host|Secure)-[^]*; Secure/i)
    } finally {
      await secure.stop()
    }
  })
})

describe("a request without TLS to a site that uses it", () => {
  it.each([{}, { "x-forwarded-proto": "http" }])(
    "is answered, and redirected nowhere: %j",
    async (headers) => {
      const secure = await startSecure()
      try {
        const send = (path: string, init: RequestInit = {}) =>
          fetch(`http://127.0.0.1:${secure.port}${path}`, { redirect: "manual", ...init, headers })
        const statuses = await Promise.all([
          send("/"),
          send("/sign-in"),
          send("/api/health"),
          send("/api/files"),
          send("/api/files", { method: "POST" }),
          send("/api/nothing"),
        ])
        expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 401, 401, 401])
        // To sign in, where it came in.
        expect((await send("/dashboard")).headers.get("location")).toMatch(/^\/sign-in\?/)
      } finally {
        await secure.stop()
      }
    },
  )
})

describe("/.well-known/security.txt", () => {
  it("says where to report a vulnerability, and until when it is valid", async () => {
    const response = await ask("/.well-known/security.txt")
    expect(response.status).toBe(200)
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8")
    const fields = new Map(
      (await response.text())
        .trim()
        .split("\n")
        .map((line) => line.split(/: (.*)/, 2) as [string, string]),
    )
    expect(fields.get("Contact")).toBe("mailto:security@example.org")
    expect(fields.get("Canonical")).toBe(`${app.origin}/.well-known/security.txt`)
    const days = (Date.parse(fields.get("Expires") ?? "") - Date.now()) / (24 * 60 * 60 * 1000)
    expect(days).toBeGreaterThan(80)
    expect(days).toBeLessThan(365)
  })
})

describe("a request that is refused before its page runs", () => {
  it.each([
    ["sec-fetch-site", "cross-site"],
    ["origin", "https://evil.example"],
  ])("gets a page in the reader's language and colours, with the reason: %s", async (name, value) => {
    const response = await ask("/sign-in", {
      method: "POST",
      headers: { [name]: value, "accept-language": "de", cookie: "theme=dark" },
      body: new URLSearchParams({ email: "ada@example.org", password: "an engine of brass" }),
    })
    expect(response.status).toBe(403)
    const page = await response.text()
    expect(page).toContain('<html lang="de" data-theme="dark"')
    expect(page).toContain('<h1 class="mt-3 text-3xl font-semibold">Kein Zugriff</h1>') // cspell:disable-line
    expect(page).toContain("Diese Anfrage kam von einer anderen Website und wurde deshalb abgelehnt.")
    expect(page).not.toContain("Melden Sie sich mit einem anderen Konto an")
  })
})

function startSecure() {
  return startTideline({
    APP_URL: "https://tideline.example.org",
    SMTP_URL: "smtp://127.0.0.1:1",
    AI_GATEWAY_API_KEY: "",
  })
}

function ask(path: string, init?: RequestInit) {
  return fetch(new URL(path, app.origin), { redirect: "manual", ...init })
}
