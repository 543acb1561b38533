import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import type { Product } from "./product.ts"

export type Viewer = "ada" | "grace" | "grant"

export async function open(
  from: Browser,
  served: Product,
  as: Viewer | undefined,
  options: BrowserContextOptions,
): Promise<Page> {
  const context = await from.newContext({ reducedMotion: "reduce", ...options })
  if (as) {
    const pairs = served[as].split("; ").map((pair) => pair.split(/=(.*)/s))
    await context.addCookies(pairs.map(([name = "", value = ""]) => ({ name, value, url: served.origin })))
  }
  return context.newPage()
}

/**
 * A page that is live is never idle, so it is looked at when its fonts and pictures are there and
 * it has come to rest.
 */
export async function show(page: Page, address: string) {
  await page.goto(address, { waitUntil: "load" })
  // A tall page loads the pictures further down when somebody gets there.
  await page.evaluate(async () => {
    const pictures = [...document.querySelectorAll("img")]
    for (const picture of pictures) picture.loading = "eager"
    // One that cannot be had is seen in the screenshot.
    await Promise.all(pictures.map((picture) => picture.decode().catch(() => {})))
    await document.fonts.ready
  })
  await page.waitForTimeout(900)
}
