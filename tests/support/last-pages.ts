import type { Browser, BrowserContext } from "playwright-core"
import { TestRunner } from "vitest"

const browsers = new Set<Browser>()
/** What the pages showed that a failed test has closed. */
let closed: string[] = []

/** The last errors of scripts and requests. */
const complaints = new WeakMap<BrowserContext, string[]>()
const complaintsOf = (context: BrowserContext) => complaints.get(context) ?? []

/** Lets `describePages` say what the pages of this browser show. */
export function watchPages(browser: Browser) {
  browsers.add(browser)
  browser.on("disconnected", () => browsers.delete(browser))
  browser.on("context", (context) => {
    const complain = (text: string) => complaints.set(context, [...complaintsOf(context), text].slice(-5))
    context.on("requestfailed", (request) => complain(`${request.url()} ${request.failure()?.errorText}`))
    context.on("weberror", (error) => complain(error.error().message))
    context.on("console", (message) => {
      if (message.type() === "error") complain(message.text())
    })
    const close = context.close.bind(context)
    context.close = async (options) => {
      if (TestRunner.getCurrentTest()?.result?.state === "fail") closed.push(...(await describe(context)))
      await close(options)
    }
  })
}

/** What each page shows, also of those that a failed test has closed. */
export async function describePages(): Promise<string[]> {
  const open = await Promise.all([...browsers].flatMap((browser) => browser.contexts().map(describe)))
  const pages = [...closed, ...open.flat()]
  closed = []
  return pages
}

async function describe(context: BrowserContext): Promise<string[]> {
  const pages = await Promise.all(
    context.pages().map(async (page) => {
      const shown = await page.locator("body").innerText({ timeout: 1000 }).catch(String)
      return `${page.url()} shows: ${shown.replaceAll(/\s+/g, " ").slice(0, 800)}`
    }),
  )
  return [...pages, ...complaintsOf(context).map((text) => `An error in the browser: ${text}`)]
}
