import { readFileSync } from "node:fs"
import { chromium, type Browser } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { open, show } from "../../gallery/open.ts"
import { serveProduct, type Product } from "../../gallery/product.ts"
import { accompany, describeShot, siteShots, siteTexts } from "../../gallery/site-shots.ts"
import { findBrowser } from "../support/browser.ts"

let product: Product
let browser: Browser
beforeAll(async () => {
  product = await serveProduct()
  browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] })
  await accompany(browser, product)
  return async () => {
    await browser.close()
    await product.stop()
  }
})

describe("the pictures on the public pages", () => {
  // If not: npm run screenshots -- --site
  it.each(["space", "space-phone", "chat", "files"])("show %s as it is now", async (name) => {
    const shot = siteShots(product).find((each) => each.name === name)!
    const page = await open(browser, product, "ada", { viewport: shot.viewport })
    await show(page, product.origin + shot.path)
    const taken = JSON.parse(readFileSync(siteTexts, "utf8")) as Record<string, string>
    expect(await describeShot(page)).toBe(taken[name])
  })
})
