import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { gzipSync } from "node:zlib"
import type { Browser, BrowserContext, Page } from "playwright-core"
import postgres from "postgres"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { chooseFor } from "../support/files-browser.ts"
import { inAll } from "../support/all.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"
import { giveCookies, launchBrowser, takenOver } from "../support/browser.ts"
import { runBuiltCommand } from "../support/commands.ts"
import { openGate, type Gate } from "../support/gate.ts"
import { postJson, signUp, type Person } from "../support/people.ts"

let gate: Gate
let app: TidelineApp
let sql: postgres.Sql
let browser: Browser
beforeAll(async () => {
  gate = await openGate()
  app = await startTideline({ APP_URL: gate.origin })
  gate.leadTo(app.port)
  sql = postgres(app.databaseUrl, { max: 1 })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser.close()
  await sql.end()
  await app.stop()
  await gate.close()
})

const complaints: string[] = []
let contexts: BrowserContext[] = []
afterEach(async () => {
  for (const context of contexts) await context.close()
  contexts = []
  expect(complaints.splice(0)).toEqual([])
})

describe("two browsers of one user", () => {
  it("show each other's renames, uploads and new conversations", async () => {
    const ada = await onboarded()
    await addFile(ada, "tides.txt")
    const [here, there] = await Promise.all([
      open(await browserOf(ada), "/dashboard/files"),
      open(await browserOf(ada), "/dashboard/files"),
    ])
    const seen = await marked(there)

    await rename(here, "tides.txt", "currents")
    await fileNamed(there, "currents.txt").waitFor()

    await here
      .locator("input[type=file]")
      .first()
      .setInputFiles({ name: "charts.txt", mimeType: "text/plain", buffer: Buffer.from("chart") })
    await fileNamed(there, "charts.txt").waitFor()

    await postJson(ada, "/api/chat/threads", { title: "On the depth of the sea" })
    await there.getByRole("link", { name: "On the depth of the sea" }).first().waitFor()
    expect(await seen()).toBe(true)
  })

  inAll("update the used space without reloading the page's data", async () => {
    const ada = await onboarded()
    await addFile(ada, "tides.txt")
    const page = await open(await browserOf(ada), "/dashboard/files?sort=name")
    await page.getByText(/^3 (B|byte)s? of/).waitFor()
    const asked = requestsOf(page)
    await addFile(ada, "charts.txt")
    await page.getByText(/^6 (B|byte)s? of/).waitFor()
    await fileNamed(page, "charts.txt").waitFor()
    await sql`update files set trashed = true, trashed_at = 1 where file_name = 'charts.txt'
      and user_id = (select _id from users where email = ${ada.email})`
    await page.getByText(/^3 (B|byte)s? of that in the trash/).waitFor()
    await fileNamed(page, "charts.txt").waitFor({ state: "detached" })
    expect(asked().filter((path) => path.endsWith(".data") || path === "/favicon.svg")).toEqual([])
  })

  inAll("show what an operator changes in psql, and the plan that the operator's command sets", async () => {
    const ada = await onboarded()
    await addFile(ada, "tides.txt")
    const page = await open(await browserOf(ada), "/dashboard")
    const seen = await marked(page)

    await sql`update files set file_name = 'by hand.txt' where user_id = (select _id from users where email = ${ada.email})`
    await page.getByText("by hand.txt").first().waitFor()

    await runCommand("plan", ada.email, "pro")
    await page
      .getByRole("button", { name: /^Your account/ })
      .getByText("Pro")
      .waitFor()
    expect(await seen()).toBe(true)
  })

  inAll("receive a reply as it grows", async () => {
    const ada = await onboarded()
    const made = await postJson(ada, "/api/chat/threads", { title: "Tides" })
    const { thread } = (await made.json()) as { thread: { _id: string } }
    const address = `/dashboard/chat/${thread._id}`
    const [here, there] = [
      await open(await browserOf(ada), address),
      await open(await browserOf(ada), address),
    ]
    const asked = requestsOf(there)
    // A reply that ended before the page went live is not announced there.
    await vi.waitFor(async () => expect(await connectionsOf(ada)).toBe(2), { timeout: 10_000 })
    await here.getByRole("textbox", { name: "Your question" }).fill("How deep is the sea?")
    await here.keyboard.press("Enter")
    await there.getByRole("log").getByText("How deep is the sea?").first().waitFor()
    await there.getByText("The reply is complete.").waitFor({ state: "attached" })
    await here.getByText("The reply is complete.").waitFor({ state: "attached" })
    // The end of the text is still being revealed when the reply is over.
    await expect.poll(async () => (await wordsOf(there)) === (await wordsOf(here))).toBe(true)
    expect(asked().filter((path) => path.endsWith(".data"))).toEqual([])
  })

  inAll("list each other as connected", async () => {
    const ada = await onboarded()
    const here = await open(await browserOf(ada), "/dashboard")
    const devices = here.getByRole("region", { name: "Your devices online" })
    await devices.getByText("Chrome on Linux", { exact: true }).waitFor()
    const elsewhere = await browserOf(ada)
    await open(elsewhere, "/dashboard/files")
    await devices.getByText("Chrome on Linux (2)").waitFor()
    await elsewhere.close()
    await devices.getByText("Chrome on Linux", { exact: true }).waitFor()
  })
})

describe("the tabs of one browser", () => {
  inAll("share one connection, which survives when the tab that opened it closes", async () => {
    const ada = await onboarded()
    await addFile(ada, "tides.txt")
    const context = await browserOf(ada)
    const [one, two] = [await open(context, "/dashboard/files"), await open(context, "/dashboard/files")]
    await rename(one, "tides.txt", "currents")
    await fileNamed(two, "currents.txt").waitFor()
    expect(await connectionsOf(ada)).toBe(1)
    await one.close()
    await sql`update files set file_name = 'afterwards.txt' where file_name = 'currents.txt'`
    await fileNamed(two, "afterwards.txt").waitFor()
    await two.goto(`${app.origin}/pricing`)
    await vi.waitFor(async () => expect(await connectionsOf(ada)).toBe(0), { timeout: 10_000 })
  })

  it("are signed out together, and the one where it was done opens the home page", async () => {
    const ada = await onboarded()
    const context = await browserOf(ada)
    const [one, two] = [await open(context, "/dashboard"), await open(context, "/dashboard")]
    await two.getByRole("region", { name: "Your devices online" }).waitFor()
    await one.getByRole("button", { name: /^Your account/ }).click()
    await one.getByRole("button", { name: "Sign out" }).click()
    await Promise.all([one.waitForURL(`${app.origin}/`), two.waitForURL(/\/sign-in/)])
  })

  it("never show anyone the rows of the user who signs in after them", async () => {
    const [ada, grace] = [await onboarded(), await onboarded(app, sql, "Grace Hopper")]
    await addFile(ada, "of ada.txt")
    await addFile(grace, "of grace.txt")
    const context = await browserOf(ada)
    const adas = await open(context, "/dashboard/files")
    await vi.waitFor(async () => expect(await connectionsOf(ada)).toBe(1), { timeout: 10_000 })
    await setCookies(context, grace)
    const seen = await watch(adas, (page) => page.querySelector("body")?.innerText ?? "")
    await dropConnections(ada)
    await fileNamed(adas, "of grace.txt").waitFor()
    expect(seen()).not.toEqual([])
    expect(seen().filter((text) => text.includes("of grace.txt") && text.includes("Ada Lovelace"))).toEqual(
      [],
    )
  })
})

describe("a page", () => {
  it("becomes live from the rows it was rendered with", async () => {
    const ada = await onboarded()
    await addFile(ada, "tides.txt")
    const context = await browserOf(ada)
    // The test cannot see a socket in a shared worker. Browsers without shared workers connect this
    // way too.
    await context.addInitScript("delete window.SharedWorker")
    const page = await context.newPage()
    const frames = framesOf(page)
    const asked = requestsOf(page)
    await page.goto(`${app.origin}/dashboard/files`)
    const { subscriptions: wanted } = await frames.sent("subscribe")
    // In one event or several, as long as answering takes.
    const answered = () => frames.allReceived("snapshot").flatMap(({ subscriptions }) => subscriptions)
    await expect.poll(() => answered().length).toBe(wanted.length)
    expect(wanted.map(({ query, have }) => [query, typeof have?.token])).toEqual(
      expect.arrayContaining([
        ["users.getUserByClerkId", "string"],
        ["chat.listThreads", "string"],
        ["files.list", "string"],
      ]),
    )
    expect(answered().map(({ kind }) => kind)).toEqual(wanted.map(() => "changes"))
    const fetched = asked().filter((path) => path.startsWith("/api/") || path.endsWith(".data"))
    expect(fetched).toEqual(["/api/realtime/token"])
    await sql`update files set file_name = 'live.txt' where file_name = 'tides.txt'`
    await fileNamed(page, "live.txt").waitFor()
  })

  inAll("shows its data without JavaScript", async () => {
    const ada = await onboarded()
    await addFile(ada, "tides.txt")
    const page = await (await browserOf(ada, { javaScriptEnabled: false })).newPage()
    await page.goto(`${app.origin}/dashboard/files`)
    expect(await fileNamed(page, "tides.txt").count()).toBe(1)
  })

  inAll("reloads once, and not in a loop, where the browser sends its cookies with pages only", async () => {
    const context = await browserOf(await onboarded())
    await context.addInitScript("delete window.SharedWorker")
    await context.addInitScript(keepDelays)
    await context.route("**/api/realtime/token", (route) =>
      route.fulfill({ status: 401, json: { error: "Unauthorized" } }),
    )
    const page = await context.newPage()
    let loads = 0
    page.on("load", () => (loads += 1))
    await page.goto(`${app.origin}/dashboard`)
    await expect.poll(() => loads, { message: "times that the page was loaded" }).toBe(2)
    const delays = () => page.evaluate("delays")
    await expect.poll(delays, { message: "what the page waits for" }).toContain(60_000)
    expect(loads).toBe(2)
  })

  it("rolls back a rename that the server refuses, and says why", async () => {
    const ada = await onboarded()
    await addFile(ada, "tides.txt")
    const page = await open(await browserOf(ada), "/dashboard/files")
    await vi.waitFor(async () => expect(await connectionsOf(ada)).toBe(1), { timeout: 10_000 })
    const seen = await namesShown(page)
    await rename(page, "tides.txt", "high/low")
    await page.getByRole("alert").getByText("A file name cannot contain").waitFor()
    await fileNamed(page, "tides.txt").waitFor()
    const names = seen()
    expect(names[0] === "tides.txt" ? names.slice(1) : names).toEqual(["high/low.txt", "tides.txt"])
  })

  it("says while offline how old its rows are, and then catches up without a flash", async () => {
    const ada = await onboarded()
    await addFile(ada, "tides.txt")
    const context = await browserOf(ada)
    const page = await open(context, "/dashboard/files")
    await vi.waitFor(async () => expect(await connectionsOf(ada)).toBe(1), { timeout: 10_000 })
    const counts = await countsShown(page)
    gate.shut()
    await context.setOffline(true)
    await page
      .getByRole("status")
      .getByText(/^Reconnecting, as of \d\d:\d\d:\d\d$/)
      .waitFor()
    await sql`
      insert into files (user_id, file_name, mime_type, size, storage_id)
      select user_id, 'while away.txt', mime_type, size, storage_id from files where file_name = 'tides.txt' and user_id = (select _id from users where email = ${ada.email})`
    gate.open()
    await context.setOffline(false)
    await fileNamed(page, "while away.txt").waitFor()
    await page.getByText(/^Reconnecting/).waitFor({ state: "detached" })
    expect(counts()).toEqual([2])
  })

  inAll("notices within 45 s that a network drops everything, and then catches up", async () => {
    const ada = await onboarded()
    await addFile(ada, "tides.txt")
    const context = await browserOf(ada)
    // The test's clock applies to the page, not to workers.
    await context.addInitScript("delete window.SharedWorker")
    await context.clock.install()
    const page = await open(context, "/dashboard/files")
    await vi.waitFor(async () => expect(await connectionsOf(ada)).toBe(1), { timeout: 10_000 })
    gate.swallow()
    await sql`
      update files set file_name = 'swallowed.txt'
      where user_id = (select _id from users where email = ${ada.email})`
    await page.clock.fastForward(45_000)
    await page.getByText(/^Reconnecting/).waitFor()
    expect(await fileNamed(page, "tides.txt").count()).toBe(1)
    gate.open()
    await fileNamed(page, "swallowed.txt").waitFor()
    await page.getByText(/^Reconnecting/).waitFor({ state: "detached" })
  })

  inAll("catches up after the server was killed and started again", async () => {
    const other = await startTideline()
    const database = postgres(other.databaseUrl, { max: 1 })
    const ada = await onboarded(other, database)
    await addFile(ada, "tides.txt")
    const page = await open(await browserOf(ada, {}, other), "/dashboard/files", other)
    await vi.waitFor(async () => expect(await connectionsOf(ada, database)).toBe(1), { timeout: 10_000 })
    const counts = await countsShown(page)
    const seen = await marked(page)
    process.kill(other.pid, "SIGKILL")
    await other.exited
    await database`update files set file_name = 'in the meantime.txt'`
    const again = spawnTideline(dirname(other.dataDir), {
      PORT: String(other.port),
      DATABASE_URL: other.databaseUrl,
    })
    try {
      await fileNamed(page, "in the meantime.txt").waitFor()
      await database`update files set file_name = 'afterwards.txt'`
      await fileNamed(page, "afterwards.txt").waitFor()
      expect(counts()).toEqual([])
      expect(await seen()).toBe(true)
      // What the browser reports when the server is unreachable.
      complaints.splice(0)
    } finally {
      await page.close()
      again.child.kill("SIGTERM")
      await again.exited
      await database.end()
      await other.stop()
    }
  })

  inAll("keeps the further pages of a list live too", async () => {
    const ada = await onboarded()
    await sql`
      insert into chat_threads (user_id, title, last_message_at)
      select _id, 'Conversation ' || n, 1000000 + n from users, generate_series(1, 120) n where email = ${ada.email}`
    const page = await open(await browserOf(ada), "/dashboard/chat")
    const list = page.getByRole("navigation", { name: "Conversations" })
    const titled = (title: string) => list.getByRole("link", { name: title, exact: true })
    await list.getByRole("button", { name: "Show older" }).click()
    await titled("Conversation 21").waitFor()
    await list.getByRole("button", { name: "Show older" }).click()
    await titled("Conversation 1").waitFor()
    await list.getByRole("button", { name: "Show older" }).waitFor({ state: "detached" })
    await sql`update chat_threads set title = 'Renamed far back' where title = 'Conversation 2'`
    await titled("Renamed far back").waitFor()
    await sql`update chat_threads set last_message_at = 2000000 where title = 'Conversation 5'`
    await expect.poll(() => list.getByRole("link").first().innerText()).toBe("Conversation 5")
    expect(await list.getByRole("link").count()).toBe(120)
  })
})

describe("the client code for live pages", () => {
  const assets = join(import.meta.dirname, "../../build/client/assets")
  const realtime = /^(realtime|shared-link|shared-worker|socket-link|token)-/

  it("takes less than 20 kB of a live page, libraries included", async () => {
    const ada = await onboarded()
    const page = await (await browserOf(ada)).newPage()
    const scripts = scriptsOf(page)
    await page.goto(`${app.origin}/dashboard`)
    await page.getByRole("region", { name: "Your devices online" }).waitFor()
    const loaded = scripts().filter((name) => realtime.test(name))
    expect(new Set(loaded.map((name) => realtime.exec(name)?.[1]))).toEqual(
      new Set(["realtime", "shared-link", "shared-worker"]),
    )
    const sizes = loaded.map((name) => gzipSync(readFileSync(join(assets, name))).byteLength)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(20_000)
  })

  it.each(["/", "/pricing", "/docs/introduction", "/sign-in"])("is not on %s", async (path) => {
    const page = await (await browser.newContext()).newPage()
    contexts.push(page.context())
    const scripts = scriptsOf(page)
    await page.goto(app.origin + path, { waitUntil: "networkidle" })
    const found = scripts().filter((name) => {
      const code = readFileSync(join(assets, name), "utf8")
      return realtime.test(name) || code.includes("/api/realtime/token") || code.includes("EIO")
    })
    expect(found).toEqual([])
  })
})

let people = 0

async function onboarded(to = app, database = sql, name = "Ada Lovelace"): Promise<Person> {
  people += 1
  const person = await signUp(to, { name, email: `person-${people}@example.org` })
  await person("/onboarding")
  await database`update users set onboarding_completed = true, onboarding_step = 'done' where email = ${person.email}`
  return person
}

async function addFile(person: Person, name: string) {
  const response = await person(`/api/files?name=${encodeURIComponent(name)}`, { method: "POST", body: "…" })
  expect(response.status).toBe(201)
}

/** A new browser, signed in as this person. */
async function browserOf(person: Person, options = {}, to = app): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  contexts.push(context)
  await setCookies(context, person, to)
  return context
}

async function setCookies(context: BrowserContext, person: Person, to = app) {
  await context.clearCookies()
  await giveCookies(context, person, to)
}

async function open(context: BrowserContext, path: string, to = app): Promise<Page> {
  const page = await context.newPage()
  page.on("pageerror", ({ message }) => complaints.push(message))
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("net::ERR_")) complaints.push(message.text())
  })
  await page.goto(to.origin + path)
  await takenOver(page)
  return page
}

function fileNamed(page: Page, name: string) {
  return page.getByRole("list", { name: "Your files" }).getByRole("link", { name, exact: true })
}

async function rename(page: Page, from: string, stem: string) {
  await chooseFor(page, from, "Rename")
  await page.getByRole("textbox", { name: `New name for ${from}` }).fill(stem)
  await page.keyboard.press("Enter")
}

/** Returns a function that tells whether the page is still the same document. */
async function marked(page: Page) {
  await page.evaluate(() => document.documentElement.setAttribute("data-opened-once", ""))
  return () => page.evaluate(() => document.documentElement.hasAttribute("data-opened-once"))
}

/** Every name that a file's link takes from now on. */
function namesShown(page: Page) {
  return watch(page, (list) =>
    [...list.querySelectorAll("[data-file]")].map((link) => link.textContent).join(),
  )
}

/** Every number of files that the page shows from now on. */
async function countsShown(page: Page) {
  const seen = await watch(page, (shown) => String(shown.querySelectorAll("[data-file]").length))
  const first = (await page.locator("[data-file]").count()).toString()
  return () =>
    seen()
      .filter((count, at, all) => count !== (all[at - 1] ?? first))
      .map(Number)
}

/** Collects what `look` finds in the page after each change, until the page is left. */
async function watch(page: Page, look: (page: ParentNode) => string): Promise<() => string[]> {
  const seen: string[] = []
  await page.exposeFunction("tellTest", (found: string) => {
    if (found && found !== seen.at(-1)) seen.push(found)
  })
  const script = `{
    const look = ${look.toString()}
    new MutationObserver(() => tellTest(look(document))).observe(document, {
      subtree: true, childList: true, characterData: true,
    })
  }`
  // Also in the next document of the page.
  await page.addInitScript(script)
  await page.evaluate(script)
  return () => seen
}

function requestsOf(page: Page) {
  const asked: string[] = []
  page.on("request", (request) => asked.push(new URL(request.url()).pathname))
  return () => asked
}

/** The names of the built scripts that the page requested. */
function scriptsOf(page: Page) {
  const asked = requestsOf(page)
  return () => asked().flatMap((path) => /^\/assets\/(.*\.js)$/.exec(path)?.[1] ?? [])
}

interface Message {
  subscriptions: { query: string; kind: string; have?: { token: string } }[]
}

/** The events on the page's own socket: `received` and `sent` resolve with the first of a name. */
function framesOf(page: Page) {
  const found = new Map<string, PromiseWithResolvers<Message>>()
  const all: { event: string; message: Message }[] = []
  const first = (event: string) => {
    const known = found.get(event) ?? Promise.withResolvers<Message>()
    found.set(event, known)
    return known
  }
  const read = (direction: string, payload: string | Buffer) => {
    const event = /^42\d*(\[.*)$/s.exec(String(payload))?.[1]
    if (!event) return
    const [name, message] = JSON.parse(event) as [string, Message]
    all.push({ event: `${direction} ${name}`, message })
    first(`${direction} ${name}`).resolve(message)
  }
  page.on("websocket", (socket) => {
    socket.on("framereceived", ({ payload }) => read("received", payload))
    socket.on("framesent", ({ payload }) => read("sent", payload))
  })
  return {
    allReceived: (name: string) =>
      all.filter(({ event }) => event === `received ${name}`).map(({ message }) => message),
    sent: (name: string) => first(`sent ${name}`).promise,
  }
}

async function connectionsOf({ email }: Person, database = sql): Promise<number> {
  const rows = await database`
    select 1 from devices where user_id = (select _id from users where email = ${email})`
  return rows.length
}

/** As when a session ends somewhere: every connection of the user must authenticate again. */
async function dropConnections({ email }: Person) {
  await sql`
    select pg_logical_emit_message(true, 'realtime.revoke', clerk_id) from users where email = ${email}`
}

async function runCommand(...words: string[]) {
  const env = { DATABASE_URL: app.databaseUrl, DATA_DIR: app.dataDir }
  const { code, output } = await runBuiltCommand("user", words, { folder: dirname(app.dataDir), env })
  expect(code, output).toBe(0)
}

/** The text of the conversation. */
function wordsOf(page: Page) {
  return page.getByRole("log").innerText()
}

/** Runs in the page: records the delays of its timers in `delays`, in milliseconds. */
const keepDelays = `
  window.delays = []
  const wait = window.setTimeout
  window.setTimeout = (work, delay, ...rest) => {
    delays.push(delay)
    return wait(work, delay, ...rest)
  }
`
