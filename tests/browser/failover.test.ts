import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, vi } from "vitest"
import type { ReplicaSet } from "#db/embedded/replica-set.ts"
import { openPostgres, readDatabaseUrl } from "#live/check"
import { inAll } from "../support/all.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { giveCookies, launchBrowser, takenOver } from "../support/browser.ts"
import { choose, link } from "../support/files-browser.ts"
import { ada, signUp, type Person } from "../support/people.ts"
import { startTestReplicaSet } from "../support/replica-set.ts"

// Two browsers, a server and two databases share the machine with other tests.
vi.setConfig({ testTimeout: 120_000 })

let set: ReplicaSet
let app: TidelineApp
let browser: Browser
let person: Person

beforeAll(async () => {
  // A commit is acknowledged once the standby has it, so that its promotion loses none.
  set = await startTestReplicaSet({ standbys: 1, settings: { synchronous_standby_names: "b" } })
  app = await startTideline({
    DATABASE_URL: set.url,
    FOLLOW_DATABASE_URL: set.nodes.map(({ url }) => url).join(","),
  })
  browser = await launchBrowser()
  person = await signUp(app, ada)
  // The first page requested creates the record.
  await person("/dashboard")
  const sql = openPostgres(readDatabaseUrl(set.url) ?? set.url, { max: 1 })
  await sql`update users set onboarding_completed = true`
  await sql.end()
}, 180_000)
afterAll(async () => {
  await browser.close()
  await app.stop()
  await set.stop()
})

inAll(
  "two browsers of one person go on showing each other's files, without a reload, when the primary dies and its standby is promoted",
  async () => {
    const [old, standby] = set.nodes
    const [here, there] = [await open(), await open()]
    for (const page of [here, there]) await page.evaluate(() => document.body.setAttribute("data-seen", ""))
    await choose(here, { "before.txt": "one" })
    await link(there, "before.txt").waitFor()
    await choose(there, { "also before.txt": "two" })
    await link(here, "also before.txt").waitFor()

    await old!.kill()
    const refused = there.waitForResponse((response) => response.status() === 503, { timeout: 60_000 })
    await choose(there, { "while it is away.txt": "three" })
    await refused
    // It has no standby of its own yet.
    await standby!.set({ synchronous_standby_names: "" })
    await set.failOver(standby!)

    // The page sends it again.
    await link(here, "while it is away.txt").waitFor({ timeout: 60_000 })
    await choose(here, { "after.txt": "four" })
    await link(there, "after.txt").waitFor({ timeout: 60_000 })
    for (const page of [here, there]) {
      expect(await namesOn(page)).toEqual([
        "after.txt",
        "also before.txt",
        "before.txt",
        "while it is away.txt",
      ])
      expect(await page.locator("body[data-seen]").count()).toBe(1)
    }
  },
)

/** The person's files in a browser of its own. */
async function open(): Promise<Page> {
  const context = await browser.newContext({ baseURL: app.origin })
  await giveCookies(context, person, app)
  const page = await context.newPage()
  await page.goto("/dashboard/files?sort=name")
  await takenOver(page)
  return page
}

async function namesOn(page: Page): Promise<string[]> {
  const names = await page
    .getByRole("link")
    .filter({ hasText: /\.txt$/ })
    .allInnerTexts()
  return names.toSorted()
}
