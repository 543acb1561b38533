import { networkInterfaces } from "node:os"
import { setTimeout } from "node:timers/promises"
import type { Page } from "playwright-core"

/** Creates an account in a browser, up to its dashboard. */
export async function signUp(page: Page) {
  await visit(page, "/sign-up")
  await page.getByLabel("Name").fill("Ada Lovelace")
  await page.getByLabel("Email address").fill("ada@example.org")
  await page.getByLabel("Password", { exact: true }).fill("an engine of brass and cards")
  await page.getByRole("button", { name: "Sign up" }).click()
  for (const button of ["Get started", "Go to the dashboard"]) {
    await page.getByRole("button", { name: button }).click()
  }
  await page.getByRole("heading", { level: 1, name: "Welcome, Ada" }).waitFor()
}

export async function visit(page: Page, path: string) {
  await settled()
  await page.goto(path)
}

/**
 * Resolves when the networks of this machine have been the same for a while. Chromium gives up what
 * it loads when one comes or goes, and those of a container do so up to two seconds after it has
 * started: so long an address of IPv6 is only tried.
 */
async function settled() {
  for (let known = "", quiet = 0; quiet < 4; quiet++) {
    const now = JSON.stringify(networkInterfaces())
    if (now !== known) quiet = 0
    known = now
    await setTimeout(1000)
  }
}
