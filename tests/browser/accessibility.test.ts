import type { BrowserContextOptions, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { sample } from "../support/all.ts"
import { faultsInEveryLook, faultsOf } from "../support/axe.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app } = withTideline()
const browser = withBrowser()

const complaints: string[] = []
afterEach(() => {
  expect(complaints.splice(0)).toEqual([])
})

const pages = [
  "/",
  "/features",
  "/pricing",
  "/about",
  "/blog",
  "/blog/a-commit-is-the-announcement",
  "/docs/introduction",
  "/docs/self-hosting",
  "/privacy",
  "/terms",
  "/cookies",
  "/waitlist",
  "/sign-in",
  "/sign-up",
]

describe("in light and dark colours", () => {
  let page: Page
  beforeAll(async () => {
    page = await openBrowser({})
  })
  afterAll(() => page.context().close())

  it.each(sample(pages, 2))("%s has no accessibility violations", async (path) => {
    await visit(page, path)
    expect(await faultsInEveryLook(page, [1280])).toEqual([])
  })
})

describe("on a small screen", () => {
  it("every page fits into 320 pixels", async () => {
    const page = await openBrowser({ viewport: { width: 320, height: 640 } })
    for (const path of pages) {
      await visit(page, path)
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBe(320)
    }
    await page.context().close()
  })

  it("the menu opens and closes by the keyboard, and without JavaScript", async () => {
    const page = await open("/", { viewport: { width: 390, height: 844 }, javaScriptEnabled: false })
    const menu = page.getByRole("navigation", { name: "Main, small screens" })
    expect(await menu.isVisible()).toBe(false)
    await page.getByRole("button", { name: "Menu" }).focus()
    await page.keyboard.press("Enter")
    await menu.waitFor()
    await page.keyboard.press("Escape")
    await menu.waitFor({ state: "hidden" })
    await page.keyboard.press("Enter")
    await menu.getByRole("link", { name: "Plans" }).click()
    await page.waitForURL("**/pricing")
    await page.context().close()
  })

  it("touch targets are 44 pixels high", async () => {
    const page = await open("/", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    const buttons = page.locator("button:visible, a[class*='rounded-md border']:visible")
    const heights = await buttons.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
    expect(heights.length).toBeGreaterThan(4)
    expect(heights.filter((height) => height < 44)).toEqual([])
    await page.context().close()
  })
})

it("a page fits into 320 pixels before its font has arrived", async () => {
  const page = await open("/", { viewport: { width: 320, height: 640 } })
  await page.route("**/*.woff2", () => {}) // never answered
  const post = new URL("/blog/a-commit-is-the-announcement", page.url()).href
  await page.goto(post, { waitUntil: "domcontentloaded" })
  await page.waitForFunction(() => document.styleSheets.length > 0)
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320)
  await page.context().close()
})

describe("in German, whose texts are longer", () => {
  it.each(sample(pages, 5))("%s fits into 320 pixels and has no accessibility violations", async (path) => {
    const page = await open(path, { viewport: { width: 320, height: 640 }, locale: "de-DE" })
    expect(await page.evaluate("document.documentElement.lang")).toBe("de")
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320)
    expect(await faultsOf(page)).toEqual([])
    await page.context().close()
  })
})

describe("the colour scheme", () => {
  it("is chosen without JavaScript, and the page is rendered in it immediately", async () => {
    const page = await open("/pricing", { colorScheme: "light", javaScriptEnabled: false })
    const light = await canvasOf(page)
    await page.getByRole("button", { name: "Dark" }).click()
    await page.waitForURL("**/pricing")
    const dark = await canvasOf(page)
    expect(dark).not.toBe(light)
    await page.getByRole("button", { name: "System" }).click()
    await page.waitForURL("**/pricing")
    expect(await canvasOf(page)).toBe(light)
    await page.context().close()
  })

  it("follows the system until someone chooses one", async () => {
    const light = await open("/", { colorScheme: "light" })
    const dark = await open("/", { colorScheme: "dark" })
    expect(await canvasOf(light)).not.toBe(await canvasOf(dark))
    await light.context().close()
    await dark.context().close()
  })
})

it("a copy button copies the commands", async () => {
  const page = await open("/", { permissions: ["clipboard-read", "clipboard-write"] })
  await page.locator("#install").getByRole("button", { name: "Copy" }).click()
  await page.locator("#install").getByRole("button", { name: "Copied" }).waitFor()
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe("npm ci && npm start")
  await page.context().close()
})

it("the first element the Tab key reaches skips the navigation", async () => {
  const page = await open("/features")
  await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  // The browser moves to the fragment in a separate task, after the key event was handled.
  await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("main")
  await page.context().close()
})

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openBrowser(options)
  await visit(page, path)
  return page
}

/** Opens a new browser. Anything its console reports fails the test. */
async function openBrowser(options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options })
  const page = await context.newPage()
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`${page.url()}: ${message.text()}`)
  })
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`))
  return page
}

async function visit(page: Page, path: string) {
  const response = await page.goto(app.origin + path)
  expect(response?.status()).toBe(200)
}

function canvasOf(page: Page): Promise<string> {
  return page.locator("body").evaluate((body) => getComputedStyle(body).backgroundColor)
}
