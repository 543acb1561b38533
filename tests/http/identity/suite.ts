import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openBrowser } from "../../support/people.ts"

/** A user of the identity provider, with their credentials. */
export interface Caller {
  userId: string
  email: string
  cookies: Record<string, string>
  /** Values for `Authorization: Bearer`. Those in `bad` must be refused everywhere. */
  bearers: Record<string, string>
  bad: { cookies: Record<string, Record<string, string>>; bearers: Record<string, string> }
}

export interface Deployment {
  app: { origin: string }
  enter(person: { name: string; email: string; plan: "free" | "pro" }): Promise<Caller>
  /** The issuer and the keys of realtime tokens; null if the provider issues none. */
  realtime: { issuer: string; keys: string; headers?: Record<string, string> } | null
  stop(): Promise<void>
}

/** What must hold over HTTP with every identity provider. `open` runs when the tests do. */
export function describeIdentity(provider: string, open: () => Promise<Deployment>) {
  describe(`identity by ${provider}`, () => {
    let deployment: Deployment
    let ada: Caller
    let grace: Caller
    const origin = () => deployment.app.origin
    const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
      fetch(origin() + path, { redirect: "manual", ...init, headers })
    const browse = (caller: Caller) => openBrowser(deployment.app, caller.cookies)

    const change = (headers: Record<string, string>, method = "POST") =>
      ask("/api/nothing", headers, { method })
    const targetOf = async (wanted: string) => {
      const response = await browse(ada)(`/sign-in?${new URLSearchParams({ redirect_url: wanted })}`)
      expect(response.status).toBe(302)
      return response.headers.get("location")
    }

    beforeAll(async () => {
      deployment = await open()
      ada = await deployment.enter({ name: "Ada Lovelace", email: "ada@example.org", plan: "free" })
      grace = await deployment.enter({ name: "Grace Hopper", email: "grace@example.org", plan: "pro" })
    })
    afterAll(() => deployment?.stop())

    describe("a visitor", () => {
      test("is sent to sign in, and back", async () => {
        const response = await ask("/dashboard?tab=files&q=a%2Fb", { accept: "text/html" })
        expect(response.status).toBe(302)
        expect(response.headers.get("location")).toBe(
          `/sign-in?redirect_url=${encodeURIComponent("/dashboard?tab=files&q=a%2Fb")}`,
        )
      })

      test.each(["/dashboard.data", "/dashboard/_.data", "/dashboard.data?_routes=root"])(
        "receives no data from %s",
        async (path) => {
          const response = await ask(path)
          const body = await response.text()
          expect(body).toContain("/sign-in?redirect_url=%2Fdashboard")
          expect(body).not.toContain("ada@example.org")
        },
      )

      test("of the API receives 401 with instructions", async () => {
        const response = await ask("/api/files")
        expect(response.status).toBe(401)
        expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/)
        expect(await response.json()).toEqual({ error: "Unauthorized" })
      })

      test("can open everything public", async () => {
        const response = await ask("/", { accept: "text/html" })
        expect(response.status).toBe(200)
      })
    })

    describe("a caller", () => {
      test("is recognised by their cookie, and gets a record", async () => {
        const send = browse(ada)
        expect((await send("/api/files")).status).toBe(200)
        const page = await send("/onboarding")
        expect(page.status).toBe(200)
        expect(await page.text()).toContain("ada@example.org")
      })

      test("is recognised by each kind of bearer credential", async () => {
        for (const [kind, bearer] of Object.entries(ada.bearers)) {
          const response = await ask("/api/files", { authorization: `Bearer ${bearer}` })
          expect([kind, response.status]).toEqual([kind, 200])
        }
      })

      test("is not recognised with an invalid cookie", async () => {
        for (const [kind, cookies] of Object.entries(ada.bad.cookies)) {
          const response = await ask("/api/files", { cookie: cookie(cookies) })
          expect([kind, response.status]).toEqual([kind, 401])
        }
      })

      test("is not recognised with an invalid bearer credential, even beside a valid cookie", async () => {
        const bad = { ...ada.bad.bearers, nonsense: "nope", empty: "", "two words": "a b" }
        for (const [kind, bearer] of Object.entries(bad)) {
          const authorization = `Bearer ${bearer}`
          expect([kind, (await ask("/api/files", { authorization })).status]).toEqual([kind, 401])
          const both = await ask("/api/files", { authorization, cookie: cookie(ada.cookies) })
          expect([kind, both.status]).toEqual([kind, 401])
        }
      })

      test("is not recognised with a scheme other than Bearer, which a browser may send automatically", async () => {
        const authorization = `Basic ${btoa("ada:secret")}`
        expect((await ask("/api/files", { authorization, cookie: cookie(ada.cookies) })).status).toBe(401)
      })

      test("cannot read another user's pages with their own cookie", async () => {
        const page = await browse(grace)("/onboarding")
        const text = await page.text()
        expect(text).toContain("grace@example.org")
        expect(text).not.toContain("ada@example.org")
      })
    })

    // Behind the guard an unknown URL is a 404; before it, a 403.
    describe("a request that changes something", () => {
      test.each([
        ["the site's own origin", () => ({ origin: origin() })],
        ["no origin, but the browser's same-origin header", () => ({ "sec-fetch-site": "same-origin" })],
        ["neither, as scripts send it", () => ({})],
      ])("is accepted with a cookie and %s", async (_, headers) => {
        expect((await change({ cookie: cookie(ada.cookies), ...headers() })).status).toBe(404)
      })

      test.each([
        ["another origin", { origin: "https://evil.example" }],
        ["the same name on another port", { origin: "http://localhost:1" }],
        ["an opaque origin", { origin: "null" }],
        ["an empty origin", { origin: "" }],
        ["a page of a sibling domain", { "sec-fetch-site": "same-site" }],
        ["a page of another site", { "sec-fetch-site": "cross-site" }],
      ])("is refused with a cookie and %s", async (_, headers) => {
        for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
          expect((await change({ cookie: cookie(ada.cookies), ...headers }, method)).status).toBe(403)
        }
      })

      test("is accepted with a bearer credential from anywhere, because no page can make a browser send one", async () => {
        for (const bearer of Object.values(ada.bearers)) {
          const authorization = `Bearer ${bearer}`
          expect((await change({ authorization })).status).toBe(404)
          expect((await change({ authorization, origin: "https://evil.example" })).status).toBe(404)
        }
      })

      test("is refused with an invalid bearer credential beside a valid cookie", async () => {
        const headers = {
          authorization: "Bearer nope",
          cookie: cookie(ada.cookies),
          origin: "https://evil.example",
        }
        expect((await change(headers)).status).toBe(403)
      })

      test("is refused with 401 from a script without credentials", async () => {
        expect((await change({})).status).toBe(401)
      })

      test("is refused if it signs in from another site", async () => {
        const body = new URLSearchParams({ email: ada.email, password: "whatever it may be" })
        const response = await ask("/sign-in", { origin: "https://evil.example" }, { method: "POST", body })
        expect(response.status).toBeGreaterThanOrEqual(400)
        expect(response.headers.getSetCookie().join()).not.toContain("session")
      })
    })

    describe("the page after signing in", () => {
      test.each([
        ["/dashboard/files", "/dashboard/files"],
        ["/dashboard/chat?a=1&b=%2F#top", "/dashboard/chat?a=1&b=%2F#top"],
        ["/", "/"],
      ])("is %s", async (wanted, expected) => {
        expect(await targetOf(wanted)).toBe(expected)
      })

      test.each([
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "/..//evil.example",
        "/./\\evil.example",
        "https://evil.example",
        "https:evil.example",
        "http:\\\\evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        " /dashboard/files",
        "dashboard/files",
        "/sign-in?redirect_url=/sign-in",
        "/sign-up",
        "/sign-out",
        "/api/files",
        "",
      ])("is the dashboard instead of %j", async (wanted) => {
        expect(await targetOf(wanted)).toBe("/dashboard")
      })
    })

    describe("a realtime token", () => {
      test("names the user and the plan, for this service and for a minute", async () => {
        const { realtime } = deployment
        if (!realtime) return expect((await browse(ada)("/api/realtime/token")).status).toBeLessThan(500)
        for (const [caller, plan] of [
          [ada, "free"],
          [grace, "pro"],
        ] as const) {
          const before = Date.now()
          const response = await browse(caller)("/api/realtime/token")
          expect(response.status).toBe(200)
          expect(response.headers.get("cache-control")).toBe("no-store")
          const { token, expiresAt } = (await response.json()) as { token: string; expiresAt: number }
          const keys = createRemoteJWKSet(new URL(realtime.keys), { headers: realtime.headers ?? {} })
          const { payload } = await jwtVerify(token, keys, {
            issuer: realtime.issuer,
            audience: "tideline-realtime",
          })
          expect(payload).toMatchObject({ sub: caller.userId, plan })
          expect((payload.exp ?? 0) * 1000).toBe(expiresAt)
          expect(expiresAt - before).toBeGreaterThan(50_000)
          expect(expiresAt - Date.now()).toBeLessThanOrEqual(60_000)
        }
      })

      test("opens nothing else", async () => {
        if (!deployment.realtime) return
        const { token } = (await (await browse(ada)("/api/realtime/token")).json()) as { token: string }
        expect(decodeJwt(token).aud).toBe("tideline-realtime")
        expect((await ask("/api/files", { authorization: `Bearer ${token}` })).status).toBe(401)
      })

      test("is not issued to visitors", async () => {
        expect((await ask("/api/realtime/token")).status).toBe(401)
      })

      test("is issued on GET only", async () => {
        const response = await browse(ada)("/api/realtime/token", { method: "POST" })
        expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"])
      })
    })

    describe("signing out", () => {
      test("requires a POST from the site itself: a link does nothing", async () => {
        const leaving = await deployment.enter({
          name: "Alan Turing",
          email: "alan@example.org",
          plan: "free",
        })
        const send = browse(leaving)
        expect((await send("/sign-out")).headers.get("location")).toBe("/dashboard")
        expect(
          (await send("/sign-out", { method: "POST", headers: { origin: "https://evil.example" } })).status,
        ).toBe(403)
        expect((await send("/api/files")).status).toBe(200)
      })

      test("clears the browser's cookies", async () => {
        const leaving = await deployment.enter({
          name: "Edsger Dijkstra",
          email: "edsger@example.org",
          plan: "free",
        })
        const send = browse(leaving)
        const response = await send("/sign-out", { method: "POST" })
        expect([response.status, response.headers.get("location")]).toEqual([303, "/"])
        expect(send.cookie()).toBe("")
        expect((await send("/api/files")).status).toBe(401)
      })
    })
  })
}

function cookie(cookies: Record<string, string>) {
  return Object.entries(cookies)
    .map((pair) => pair.join("="))
    .join("; ")
}
