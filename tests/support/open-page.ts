import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core"
import type { TidelineApp } from "./app.ts"
import { giveCookies, takenOver } from "./browser.ts"
import type { Person } from "./people.ts"

/**
 * Opens a page for somebody who is signed in, in a browser of its own or `within` one, and waits until
 * it has been taken over.
 */
export async function openPage(
  { app, browser, person }: { app: Pick<TidelineApp, "origin">; browser: Browser; person: Person },
  path: string,
  { within, ...options }: BrowserContextOptions & { within?: BrowserContext } = {},
): Promise<Page> {
  const context = within ?? (await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options }))
  await giveCookies(context, person, app)
  const page = await context.newPage()
  // Less than the test's own timeout, so that the failure names what was waited for.
  page.setDefaultTimeout(20_000)
  await page.goto(app.origin + path)
  if (options.javaScriptEnabled !== false) await takenOver(page)
  return page
}
