import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import type { Page } from "playwright-core"
import { afterEach, describe, expect, it } from "vitest"
import { inAll } from "../support/all.ts"
import { takenOver } from "../support/browser.ts"
import { chooseFor, link as fileNamed, openFilesBrowser } from "../support/files-browser.ts"
import { withResource } from "../support/with-resource.ts"

const tideline = withResource(() => openFilesBrowser({}))
afterEach(() => tideline.clear())

const moreWays = (page: Page) => page.getByRole("button", { name: "Upload: more ways" })
const folder = (page: Page) => page.getByRole("menuitem", { name: "Upload a folder" })

describe("the scripts that a dashboard page starts with", () => {
  it.each(["/dashboard", "/dashboard/chat", "/dashboard/files", "/dashboard/account"])(
    "are few and small on %s, come after its styles, and exclude what only opens later",
    async (path) => {
      const page = await (await tideline.ada(path)).text()
      const links = page.match(/<link[^>]*rel="modulepreload"[^>]*>/g) ?? []
      expect(links.length).toBeGreaterThan(5)
      expect(links.length).toBeLessThan(15)
      expect(links.filter((link) => !link.includes('fetchpriority="low"'))).toEqual([])
      const files = links.map((link) => /href="([^"]*)"/.exec(link)?.[1] ?? "")
      expect(files.filter((file) => /-parts?-/.test(file))).toEqual([])
      const bytes = files.map((file) => gzipSync(readFileSync(join("build/client", file))).byteLength)
      expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(203_000)
    },
  )
})

describe("the scripts of a page", () => {
  it("are requested once the page has been painted", async () => {
    const page = await tideline.open("/dashboard")
    const { seen, asked } = await page.evaluate(() => ({
      seen: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity,
      asked: performance
        .getEntriesByType("resource")
        .filter(({ name }) => name.endsWith(".js"))
        .map(({ startTime }) => startTime),
    }))
    expect(asked.length).toBeGreaterThan(5)
    expect(Math.min(...asked)).toBeGreaterThan(seen)
  })

  inAll("are requested immediately in a background tab, and when it comes to the front", async () => {
    const page = await tideline.open("/dashboard")
    for (const isHidden of [true, false]) {
      await page.addInitScript((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true })
        window.requestAnimationFrame = () => 0
        PerformanceObserver.prototype.observe = () => {}
      }, isHidden)
      await page.reload({ waitUntil: "commit" })
      if (!isHidden) {
        await page.locator("main").waitFor()
        await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
      }
      await page.locator("main[data-arrives]").waitFor()
    }
  })
})

describe("the scripts of menus and dialogs", () => {
  it("load at the first user activity, and work if the connection drops afterwards", async () => {
    const page = await tideline.open("/dashboard/files")
    const menu = page.waitForResponse(/\/menu-parts-/)
    await loadAgain(page)
    await page.mouse.move(200, 200)
    await (await menu).finished()
    await page.context().setOffline(true)
    await moreWays(page).click()
    await folder(page).waitFor()
  })

  inAll("open what was pressed before they had loaded", async () => {
    const { page, letThrough } = await openHolding(/\/menu-parts-/)
    await moreWays(page).click()
    await moreWays(page).and(page.locator("[aria-expanded=true]")).waitFor()
    letThrough()
    await folder(page).waitFor()
  })

  inAll("are requested again at the next press if they could not be loaded", async () => {
    const page = await tideline.open("/dashboard/files")
    const isAway = { now: true }
    await page.route(/\/(menu-parts|palette)-/, (route) => (isAway.now ? route.abort() : route.continue()))
    const refused = page.waitForEvent("requestfailed")
    await loadAgain(page)
    await page.mouse.move(200, 200)
    await refused
    await page.keyboard.press("ControlOrMeta+K")
    await page.getByText("That couldn't be opened").first().waitFor()
    isAway.now = false
    await moreWays(page).click()
    await folder(page).waitFor()
    await page.keyboard.press("Escape")
    await folder(page).waitFor({ state: "detached" })
    await page.keyboard.press("ControlOrMeta+K")
    await page.getByRole("dialog", { name: "Command palette" }).waitFor()
  })

  inAll("show notices that were posted before they had loaded", async () => {
    const { page, letThrough } = await openHolding(/\/toast-parts-/)
    await page.route(/\/palette-/, (route) => route.abort())
    const refused = page.waitForEvent("requestfailed")
    await loadAgain(page)
    await page.keyboard.press("ControlOrMeta+K")
    await refused
    expect(await page.getByText("That couldn't be opened").count()).toBe(0)
    letThrough()
    await page.getByText("That couldn't be opened").first().waitFor()
  })

  inAll(
    "focus a menu's first item when it was opened by keyboard, and return the focus afterwards",
    async () => {
      const page = await tideline.open("/dashboard/files")
      await moreWays(page).focus()
      await page.keyboard.press("ArrowDown")
      await page.getByRole("menuitem", { name: "Files", exact: true }).and(page.locator(":focus")).waitFor()
      await page.keyboard.press("Escape")
      await moreWays(page).and(page.locator(":focus")).waitFor()
    },
  )
})

describe("the scripts of the live connection", () => {
  it("lose no action taken before they load: it shows immediately, runs once they have loaded, and can be undone", async () => {
    await tideline.add("tides.txt")
    const { page, letThrough } = await openWithoutLink("/dashboard/files")
    await chooseFor(page, "tides.txt", "Delete")
    await fileNamed(page, "tides.txt").waitFor({ state: "detached" })
    expect(await tideline.list()).toHaveLength(1)
    letThrough()
    await page.getByText("tides.txt is in the trash").waitFor()
    expect(await tideline.list()).toEqual([])
    await page.getByRole("button", { name: "Undo" }).click()
    await fileNamed(page, "tides.txt").waitFor()
  })

  inAll("restore a file from the trash if that was requested before they had loaded", async () => {
    await tideline.add("tides.txt")
    await tideline.sql`update files set trashed = true, trashed_at = ${Date.now()}`
    const { page, letThrough } = await openWithoutLink("/dashboard/files/trash")
    await page.getByRole("button", { name: "Restore tides.txt" }).click()
    await page.getByText("The trash is empty").waitFor()
    letThrough()
    await page.getByText("tides.txt was restored").waitFor()
    expect(await tideline.list()).toHaveLength(1)
  })

  inAll("are retried if they cannot be loaded, while the page says that it is not live", async () => {
    const { page, letThrough } = await openWithoutLink("/dashboard/files", { fails: true })
    await page.getByText(/^Reconnecting/).waitFor()
    letThrough()
    await page.getByText(/^Reconnecting/).waitFor({ state: "detached" })
    await tideline.add("tides.txt")
    await fileNamed(page, "tides.txt").waitFor()
  })
})

/** The files page, with scripts at matching URLs held back until they are released. */
async function openHolding(address: RegExp) {
  const held = Promise.withResolvers<void>()
  const page = await tideline.open("/dashboard/files")
  await page.route(address, async (route) => {
    await held.promise
    await route.continue()
  })
  await loadAgain(page)
  return { page, letThrough: held.resolve }
}

/**
 * Call after adding routes: a page that has been open for some seconds has already preloaded its
 * code.
 */
async function loadAgain(page: Page) {
  await page.reload()
  await takenOver(page)
}

/** A page with the code of its live connection held back, or failing, until it is released. */
async function openWithoutLink(path: string, { fails = false } = {}) {
  const page = await tideline.open(path)
  const held = Promise.withResolvers<void>()
  let isHeld = true
  await page.route(/\/(shared-link|socket-link|token)-/, async (route) => {
    if (isHeld && fails) return route.abort()
    if (isHeld) await held.promise
    await route.continue()
  })
  await loadAgain(page)
  return {
    page,
    letThrough() {
      isHeld = false
      held.resolve()
    },
  }
}
