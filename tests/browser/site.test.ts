import type { BrowserContextOptions, Page } from "playwright-core"
import { afterEach, describe, expect, it } from "vitest"
import { inAll, sample } from "../support/all.ts"
import { publicForms, publicPages } from "../support/public-pages.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app } = withTideline()
const browser = withBrowser()

/**
 * Everything the consoles report, including warnings about hydration and the content security
 * policy.
 */
const said: string[] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(said.splice(0)).toEqual([])
})

const pages = [...publicPages, ...publicForms]

it.each(sample(pages, 4))(
  "%s ships little script, logs nothing to the console, and never breaks its own policy",
  async (path) => {
    const page = await open(path)
    // To the end, so that everything that loads when it is in view is loaded.
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    const policies = await page.evaluate("window.broken")
    expect(policies).toEqual([])
    // React alone is larger than this limit.
    expect(await scriptBytes(page)).toBeLessThan(20_000)
  },
)

describe("signing up", () => {
  it("shows and hides the password that is being chosen", async () => {
    const page = await open("/sign-up")
    const password = page.getByRole("textbox", { name: "Password" })
    await page.waitForLoadState("load")
    await password.fill("a few unrelated words")
    const reveal = page.getByRole("button", { name: "Show password" })
    await reveal.click()
    expect(await password.getAttribute("type")).toBe("text")
    expect(await reveal.getAttribute("aria-pressed")).toBe("true")
    await page.keyboard.press("Space")
    expect(await password.getAttribute("type")).toBe("password")
    expect(await password.inputValue()).toBe("a few unrelated words")
  })

  it("focuses the first field with an error", async () => {
    const page = await open("/sign-up")
    await page.evaluate("document.forms[0].noValidate = true")
    await page.getByLabel("Name").fill("Ada")
    await page.getByLabel("Email address").fill("ada@example.org")
    await page.getByRole("textbox", { name: "Password" }).fill("short")
    await page.keyboard.press("Enter")
    await page.getByText("Choose a password of at least 10 characters.").waitFor()
    await expect.poll(() => page.evaluate("document.activeElement.name")).toBe("password")
    // The browser itself reports that the form was refused.
    expect(said.splice(0).join()).toContain("400")
  })
})

describe("the demo on the home page", () => {
  it("shows a change made in one pane in both, and what it was", async () => {
    const page = await openDemo()
    const office = page.getByRole("region", { name: "Harbour office" })
    const pier = page.getByRole("region", { name: "On the pier" })
    await pier.getByRole("button", { name: "Fulmar: at sea" }).click()
    await office.getByRole("button", { name: "Fulmar: coming in. Next: moored" }).waitFor()
    await pier.getByRole("button", { name: "Fulmar: coming in. Next: moored" }).waitFor()
    await page.getByText("update demo_boats set state = 'coming in' where name = 'Fulmar'").waitFor()
    await office.getByText(/^Fulmar: here \d+ ms after your click$/).waitFor()
  })

  inAll("is shared by all visitors", async () => {
    const [mine, theirs] = [await openDemo(), await openDemo()]
    await mine.getByRole("button", { name: "Lamp of Grey Seal", pressed: false }).first().click()
    await theirs.getByRole("button", { name: "Lamp of Grey Seal", pressed: true }).first().waitFor()
    await theirs.getByText("not by you").waitFor()
    await theirs
      .getByText(/^Live on \d+ connections$/)
      .first()
      .waitFor()
  })

  inAll("works by keyboard, and keeps the focus in place", async () => {
    const page = await openDemo()
    const lamp = page.getByRole("button", { name: "Lamp of Turnstone" }).first()
    const before = await lamp.getAttribute("aria-pressed")
    await lamp.focus()
    await page.keyboard.press("Enter")
    await page.getByRole("status").filter({ hasText: "Turnstone changed in both panes" }).waitFor()
    expect(await lamp.getAttribute("aria-pressed")).not.toBe(before)
    expect(await lamp.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  it("works without JavaScript: a press reloads the page with the changed table", async () => {
    const page = await open("/", { javaScriptEnabled: false })
    const petrel = page.getByRole("region", { name: "On the pier" }).getByRole("button", { name: /^Petrel/ })
    const before = await petrel.textContent()
    await petrel.click()
    await page.waitForURL("**/?moved#live")
    expect(await petrel.textContent()).not.toBe(before)
  })

  inAll("loads its script when it scrolls into view, and not before", async () => {
    const page = await newPage({ viewport: { width: 390, height: 200 } })
    const asked: string[] = []
    page.on("request", (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(app.origin, { waitUntil: "networkidle" })
    expect(asked.filter((path) => /live-demo|^\/demo/.test(path))).toEqual([])
    await page.locator("#live").scrollIntoViewIfNeeded()
    await page.locator("[data-pane][data-live]").first().waitFor()
    expect(asked.filter((path) => path === "/demo")).toHaveLength(2)
  })

  inAll("says so when a visitor moves boats too often", async () => {
    const page = await openDemo()
    await page.evaluate(async () => {
      const body = new URLSearchParams({ boat: "Petrel", lamp: "on" })
      const headers = { accept: "application/json" }
      for (let times = 0; times < 40; times++) await fetch("/demo", { method: "POST", body, headers })
    })
    await page.getByRole("button", { name: "Lamp of Petrel" }).first().click()
    await page.getByRole("alert").getByText("Too many clicks. Try again in a minute.").waitFor()
    // The browser itself reports the response.
    expect(said.splice(0).filter((line) => !line.includes("429"))).toEqual([])
  })
})

async function openDemo(): Promise<Page> {
  const page = await open("/")
  await page.locator("#live").scrollIntoViewIfNeeded()
  await expect.poll(() => page.locator("[data-pane][data-live]").count()).toBe(2)
  return page
}

/** The transferred size of all scripts that the page has loaded. */
function scriptBytes(page: Page): Promise<number> {
  return page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter(({ name }) => new URL(name).pathname.endsWith(".js"))
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
  )
}

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await newPage(options)
  const response = await page.goto(app.origin + path)
  expect(response?.status()).toBe(200)
  return page
}

async function newPage(options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options })
  await context.addInitScript(() => {
    const broken: string[] = []
    Object.assign(globalThis, { broken })
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      broken.push(`${violatedDirective} ${blockedURI}`)
    })
  })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  page.on("console", (message) => said.push(`${page.url()}: ${message.text()}`))
  page.on("pageerror", ({ message }) => said.push(`${page.url()}: ${message}`))
  return page
}
