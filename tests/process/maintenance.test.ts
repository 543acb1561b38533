import { dirname } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { inAll } from "../support/all.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { runBuiltCommand } from "../support/commands.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { openBrowser, signUp, type Person } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

const database = withResource(createTestDatabase)
let app: TidelineApp
let other: TidelineApp
let ops: string
let ada: Person

beforeAll(async () => {
  const port = await findFreePort()
  ops = `http://127.0.0.1:${port}`
  const env = { DATABASE_URL: database.url }
  ;[app, other] = await Promise.all([startTideline({ ...env, OPS_PORT: String(port) }), startTideline(env)])
  ada = await signUp(app, { name: "Ada", email: "ada@example.org" })
})
afterAll(() => Promise.all([app.stop(), other.stop()]))
afterEach(() => maintain("off"))

describe("maintenance mode", () => {
  it("closes every process to everyone within a moment, and opens them again", async () => {
    const { output } = await maintain("on")
    expect(output).toMatch(/^Tideline is closed for maintenance\.\n/)
    for (const each of [app, other]) {
      await expect.poll(async () => (await fetch(each.origin)).status).toBe(503)
      for (const path of ["/", "/pricing", "/sign-in", "/dashboard", "/no-such-page"]) {
        const response = await fetch(each.origin + path, { headers: { cookie: ada.cookie() } })
        expect([path, response.status, response.headers.get("retry-after")]).toEqual([path, 503, "60"])
        expect(await response.text()).toContain("<h1>Back soon</h1>")
      }
    }
    expect(await maintain("status")).toMatchObject({ output: expect.stringMatching(/^Tideline is closed/) })
    expect(await maintain("off")).toMatchObject({ output: "Tideline is open again.\n" })
    for (const each of [app, other]) {
      await expect.poll(async () => (await fetch(each.origin)).status).toBe(200)
    }
    expect(await maintain("off")).toMatchObject({ output: "Tideline was open already.\n" })
  })

  it("returns JSON to programs, and keeps serving probes, the health endpoint and static files", async () => {
    await close()
    const refused = await fetch(`${app.origin}/api/files`, { headers: { authorization: "Bearer x" } })
    expect(refused.status).toBe(503)
    expect(refused.headers.get("cache-control")).toBe("no-store")
    expect(await refused.json()).toEqual({
      error: "Tideline is closed for maintenance. Try again in a few minutes.",
      reason: "maintenance",
    })
    const health = await fetch(`${app.origin}/api/health`)
    expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ status: "ok" })])
    expect((await fetch(`${app.origin}/favicon.svg`)).status).toBe(200)
    expect((await fetch(`${ops}/livez`)).status).toBe(200)
    // The first slot of a database has to wait for the transactions that other test files have open.
    await expect.poll(async () => (await fetch(`${ops}/readyz`)).status, { timeout: 20_000 }).toBe(200)
  })

  it("shows the operator's text, escaped, on a self-contained page in the reader's colours", async () => {
    await close("--message", `Back at 14:00 <script>alert("x")</script>`)
    const response = await fetch(`${app.origin}/pricing`, { headers: { cookie: "theme=dark" } })
    const page = await response.text()
    expect(page).toContain("Back at 14:00 &lt;script&gt;")
    expect(page).toContain('data-theme="dark"')
    expect(page).not.toMatch(/<script|<link|<img/)
    const [, nonce = ""] = /<style nonce="([^"]+)">/.exec(page) ?? []
    expect(response.headers.get("content-security-policy")).toContain(`'nonce-${nonce}'`)
  })

  it("is in the reader's language", async () => {
    await close()
    const response = await fetch(`${app.origin}/pricing`, { headers: { "accept-language": "de" } })
    expect(response.headers.get("content-language")).toBe("de")
    expect(response.headers.get("vary")).toContain("accept-language, cookie")
    const page = await response.text()
    expect(page).toContain('<html lang="de"')
    expect(page).toContain("<h1>Bald zurück</h1>")
    expect(page).toContain("Wir arbeiten an Tideline und öffnen in ein paar Minuten wieder.")
  })

  it("makes an open page load the document, which gives the reason", async () => {
    await close()
    const data = await ada("/dashboard/chat.data?thread=1&_routes=routes%2Fdashboard")
    expect(data.status).toBe(204)
    expect(data.headers.get("x-remix-redirect")).toBe("/dashboard/chat?thread=1")
    expect(data.headers.get("x-remix-reload-document")).toBe("true")
    expect((await ada("/_root.data")).headers.get("x-remix-redirect")).toBe("/")
    const referer = `${app.origin}/dashboard/files?view=list`
    const form = await ada("/theme.data", { method: "POST", body: "a=b", headers: { referer } })
    expect(form.headers.get("x-remix-redirect")).toBe("/dashboard/files?view=list")
    const strange = { referer: "https://elsewhere.example/trap" }
    const fromElsewhere = await ada("/theme.data", { method: "POST", body: "a=b", headers: strange })
    expect(fromElsewhere.headers.get("x-remix-redirect")).toBe("/")
  })

  it("disconnects sockets and refuses new ones", async () => {
    const token = await realtimeToken(ada)
    const socket = await openLiveSocket(app, token)
    const goodbye = socket.until(({ name }) => name === "goodbye")
    await close()
    expect(await goodbye).toMatchObject({ reason: "draining", retryAfter: expect.any(Number) })
    await expect(openLiveSocket(app, token)).rejects.toThrow()
    await maintain("off")
    await expect.poll(() => openLiveSocket(app, token).then((open) => open.close(), String)).toBe(undefined)
  })

  it("admits anyone with the URL that the command printed, during this maintenance only", async () => {
    const address = await close()
    const browser = openBrowser(app)
    expect((await browser(`${address}x`)).status).toBe(503)
    const entered = await browser(address)
    expect([entered.status, entered.headers.get("location")]).toEqual([303, "/"])
    expect((await browser("/")).status).toBe(200)
    expect((await browser("/api/openapi.json")).status).toBe(200)
    expect(app.log.join()).not.toContain(new URL(address).pathname)
    expect((await fetch(app.origin)).status).toBe(503)
    await maintain("off")
    await close()
    expect((await browser("/")).status).toBe(503)
  })

  inAll("stays on when a process restarts", async () => {
    await close()
    const late = await startTideline({ DATABASE_URL: database.url })
    try {
      expect((await fetch(late.origin)).status).toBe(503)
    } finally {
      await late.stop()
    }
  })

  it("can be switched by any client of the database", async () => {
    await database.db.execute("insert into maintenance default values")
    await expect.poll(async () => (await fetch(app.origin)).status).toBe(503)
  })

  it("refuses unknown arguments, and lists the valid ones", async () => {
    for (const words of [[], ["open"], ["on", "--for", "1h"]]) {
      expect(await maintain(...words)).toMatchObject({
        code: 1,
        output: expect.stringContaining("Usage: npm run"),
      })
    }
  })
})

/**
 * Begins maintenance, and waits until the first process has noticed. Returns the URL that lets a
 * browser in.
 */
async function close(...words: string[]): Promise<string> {
  const { output } = await maintain("on", ...words)
  await expect.poll(async () => (await fetch(app.origin)).status).toBe(503)
  const { pathname } = new URL(output.trim().split("\n").at(-1) ?? "")
  return app.origin + pathname
}

function maintain(...words: string[]) {
  return runBuiltCommand("maintenance", words, {
    folder: dirname(app.dataDir),
    env: { DATABASE_URL: database.url },
  })
}
