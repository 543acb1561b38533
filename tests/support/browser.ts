import { execFileSync } from "node:child_process"
import { accessSync, constants, existsSync } from "node:fs"
import type { Page } from "playwright-core"

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
]

/** A Chromium of this machine. `CHROMIUM` names another one. Throws where there is none. */
export function findBrowser(): string {
  const browser = [process.env["CHROMIUM"], ...PLACES].find((path) => path && existsSync(path))
  if (!browser)
    throw new Error(
      "No Chromium was found. Install one (apt-get install chromium), or set CHROMIUM to its path.",
    )
  accessSync(browser, constants.X_OK)
  return browser
}

/** Installs Debian's where there is none and we may: in a fresh container, as root. */
export function installBrowser() {
  if ([process.env["CHROMIUM"], ...PLACES].some((path) => path && existsSync(path))) return
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return
  const options = { stdio: ["ignore", "ignore", "inherit"] as ["ignore", "ignore", "inherit"] }
  process.stdout.write("Installing Chromium for the browser tests.\n")
  execFileSync("apt-get", ["update", "-q"], options)
  execFileSync(
    "apt-get",
    ["install", "-yq", "--no-install-recommends", "chromium", "fonts-liberation"],
    options,
  )
}

/**
 * Resolves when React has taken the page over, so that what is pressed is heard. (The network is never idle on a page that is
 * live: its worker keeps a connection.)
 */
export async function takenOver(page: Page) {
  await page.waitForFunction(() => {
    const main = document.querySelector("main")
    // The dashboard's shell marks its part when all that it listens to is heard.
    return main?.id === "main"
      ? main.hasAttribute("data-arrives")
      : main !== null && Object.keys(main).some((key) => key.startsWith("__reactProps"))
  })
}
