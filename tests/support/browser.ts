import { execFileSync } from "node:child_process"
import { accessSync, constants, existsSync } from "node:fs"
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core"
import { watchPages } from "./last-pages.ts"
import type { Person } from "./people.ts"

/**
 * Where systems install Chromium. The headless shell comes first: it renders the same pages for a
 * third of the CPU time, as it has no window around them.
 */
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
]

/** Finds a Chromium on this machine. `CHROMIUM` names another one. Throws if there is none. */
export function findBrowser(): string {
  const browser = [process.env["CHROMIUM"], ...PLACES].find((path) => path && existsSync(path))
  if (!browser)
    throw new Error(
      "No Chromium was found. Install one (apt-get install chromium-headless-shell), or set CHROMIUM to its path.",
    )
  accessSync(browser, constants.X_OK)
  return browser
}

/** Installs Debian's headless shell if it is missing and we may: in a fresh container, as root. */
export function installBrowser() {
  if ([process.env["CHROMIUM"], PLACES[0]].some((path) => path && existsSync(path))) return
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return
  process.stdout.write("Installing Chromium's headless shell for the browser tests.\n")
  try {
    apt("update")
    apt("install", "--no-install-recommends", "chromium-headless-shell", "fonts-liberation")
  } catch (error) {
    // Another Chromium works as well, only more slowly.
    if (!PLACES.some((path) => existsSync(path))) throw error
  }
}

function apt(...words: string[]) {
  // Without a network, apt would retry for minutes.
  const options = ["-yq", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10"]
  execFileSync("apt-get", [...options, ...words], { stdio: ["ignore", "ignore", "inherit"] })
}

/** A browser for this test file. Close it. */
export async function launchBrowser(): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-gpu"]
  const browser = await chromium.launch({ executablePath: findBrowser(), args })
  watchPages(browser)
  return browser
}

/** Signs a browser in as that person. */
export function giveCookies(
  context: BrowserContext,
  person: Pick<Person, "cookies">,
  { origin }: { origin: string },
): Promise<void> {
  return context.addCookies(
    Object.entries(person.cookies()).map(([name, value]) => ({ name, value, url: origin })),
  )
}

/**
 * Resolves when React has hydrated the page, so that clicks are handled. (The network is never idle
 * on a live page: its worker keeps a connection.)
 */
export async function takenOver(page: Page) {
  const taken = page.waitForFunction(() => {
    const main = document.querySelector("main")
    // The dashboard's shell marks its part once all its listeners are attached.
    return main?.id === "main"
      ? main.hasAttribute("data-arrives")
      : main !== null && Object.keys(main).some((key) => key.startsWith("__reactProps"))
  })
  await taken.catch(async (cause: unknown) => {
    const shown = await page.locator("body").innerText({ timeout: 1000 }).catch(String)
    throw new Error(`React has not taken ${page.url()} over, which shows:\n${shown.slice(0, 500)}`, { cause })
  })
}

/**
 * Waits until the page that a link led to has taken the focus, which it does a moment after its
 * address: a key pressed in between would miss what it was meant for.
 */
export async function arrivedAt(page: Page, address: RegExp) {
  await page.waitForURL(address)
  await page.locator("#main:focus-within").waitFor()
}
