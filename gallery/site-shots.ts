import { resolve } from "node:path"
import type { Browser, Page } from "playwright-core"
import { open, show } from "./open.ts"
import type { Product } from "./product.ts"

/** Where the pictures of the public pages are. */
export const sitePictures = resolve(import.meta.dirname, "../app/routes/marketing/pictures")

/** What could be read in the pictures when they were taken. A test compares it with the product. */
export const siteTexts = resolve(sitePictures, "texts.json")

export function siteShots({ thread, spaceThread }: Product) {
  const wide = { width: 1240, height: 800 }
  const narrow = { width: 390, height: 800 }
  return [
    { name: "space", path: spaceThread, viewport: wide },
    { name: "space-phone", path: spaceThread, viewport: narrow },
    { name: "chat", path: thread, viewport: wide },
    { name: "files", path: "/dashboard/files", viewport: wide },
  ]
}

/** Opens the conversation of the space as another member, whose presence the pictures show. */
export async function accompany(from: Browser, served: Product) {
  const page = await open(from, served, "grant", {})
  await show(page, served.origin + served.spaceThread)
  return page.context()
}

/** The roles, names and texts of a page, without what depends on the time or on what was opened before. */
export async function describeShot(page: Page): Promise<string> {
  const described = await page.locator("body").ariaSnapshot()
  return described
    .replaceAll(/\b(a|an|\d[\d.,:]*) ?(seconds?|minutes?|hours?|days?) ago|just now|yesterday/gi, "…")
    .replaceAll(/\/[\w-]*\/?[0-9a-f]{8}-[0-9a-f-]{27}/g, "/…")
    .replaceAll(/, \d+ unread/g, "")
    .replaceAll(/- time: .*/g, "- time: …")
    .replaceAll(/\d+/g, "0")
}
