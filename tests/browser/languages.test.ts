import type { Page } from "playwright-core"
import { afterEach, describe, expect, it } from "vitest"
import { inAll, sample } from "../support/all.ts"
import { faultsOf } from "../support/axe.ts"
import { takenOver } from "../support/browser.ts"
import { openFilesBrowser } from "../support/files-browser.ts"
import { withResource } from "../support/with-resource.ts"

const DASHBOARD = [
  "/dashboard",
  "/dashboard/chat",
  "/dashboard/files",
  "/dashboard/files/trash",
  "/dashboard/account",
  "/dashboard/account/security",
]

const tideline = withResource(() => openFilesBrowser({}))
afterEach(() => tideline.clear())

describe("a reader", () => {
  it("changes the language in a page's footer without JavaScript, and stays on the page", async () => {
    const page = await tideline.open("/pricing", { javaScriptEnabled: false })
    await page.getByRole("heading", { name: "Plans on this server" }).waitFor()
    await page.getByRole("button", { name: "Deutsch" }).click()
    await page.getByRole("heading", { name: "Die Tarife dieses Servers" }).waitFor()
    expect(new URL(page.url()).pathname).toBe("/pricing")
    expect(await page.getByRole("button", { name: "Deutsch" }).getAttribute("aria-pressed")).toBe("true")
    await page.getByRole("button", { name: "English" }).click()
    await page.getByRole("heading", { name: "Plans on this server" }).waitFor()
  })
})

describe("the dashboard", () => {
  inAll("is rendered in the browser's language on every page", async () => {
    await tideline.add("log.txt", "x".repeat(1536))
    const page = await tideline.open("/dashboard", { locale: "de-DE" })
    const complaints = complaintsOf(page)
    for (const [path, heading] of [
      ["/dashboard", "Willkommen zurück, Ada"],
      ["/dashboard/chat", "Was möchten Sie wissen?"],
      ["/dashboard/files", "Dateien"],
      ["/dashboard/files/trash", "Papierkorb"],
      ["/dashboard/account", "Konto"],
    ] as const) {
      await page.goto(path)
      await takenOver(page)
      await page.getByRole("heading", { name: heading, exact: true }).first().waitFor()
    }
    expect(complaints).toEqual([])
  })

  const looks = [
    [320, "light"],
    [1440, "dark"],
  ] as const

  it.each(sample(looks, 2))(
    "fits into %i pixels in German, in %s colours, and has no accessibility violations",
    async (width, colorScheme) => {
      await tideline.add("Jahresabschlussbericht der Donaudampfschifffahrtsgesellschaft.txt")
      const page = await tideline.open("/dashboard", {
        locale: "de-DE",
        colorScheme,
        reducedMotion: "reduce",
        viewport: { width, height: 800 },
      })
      for (const path of sample(DASHBOARD, 2)) {
        await page.goto(path)
        await takenOver(page)
        expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(width)
        expect(await faultsOf(page), path).toEqual([])
      }
    },
  )

  inAll("formats sizes for the language, in live updates too", async () => {
    const page = await tideline.open("/dashboard/files", { locale: "de-DE" })
    await tideline.add("log.txt", "x".repeat(1536))
    await page.getByText("1,5 kB", { exact: true }).first().waitFor()
    const inEnglish = await tideline.open("/dashboard/files", { locale: "en-GB" })
    await inEnglish.getByText("1.5 kB", { exact: true }).first().waitFor()
  })

  it("changes language in the menu, and loads the other catalogue only then", async () => {
    const page = await tideline.open("/dashboard")
    expect(await loadsGerman(page)).toBe(false)
    await page.getByRole("button", { name: "Your account" }).first().click()
    await page.getByRole("button", { name: "Deutsch" }).locator("visible=true").click()
    await page.getByRole("heading", { name: "Willkommen, Ada" }).waitFor()
    await takenOver(page)
    expect(await loadsGerman(page)).toBe(true)
    await page.getByRole("link", { name: "Dateien" }).first().click()
    await page.getByRole("heading", { name: "Dateien", exact: true }).waitFor()
  })
})

/** Whether the page has requested the catalogues of app/language/de/hydrated.ts. */
function loadsGerman(page: Page): Promise<boolean> {
  return page.evaluate(() =>
    performance.getEntriesByType("resource").some(({ name }) => /\/assets\/hydrated-/.test(name)),
  )
}

/** Hydration errors that React and the browser report. */
function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(error.message))
  return complaints
}
