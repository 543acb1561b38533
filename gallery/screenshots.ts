/**
 * Takes a picture of every page, and of what opens in some, at three widths, light and dark, into
 * gallery/pages, with an index.html to look at them.
 *
 *     npm run screenshots               all of them
 *     npm run screenshots -- home blog  those whose names contain a word
 *     npm run screenshots -- --german   in German
 *     npm run screenshots -- --site     the pictures that the public pages and the README show
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { chromium, type Browser } from "playwright-core"
import sharp from "sharp"
import { findBrowser } from "../tests/support/browser.ts"
import { open, show } from "./open.ts"
import { pagesOf } from "./pages.ts"
import { serveProduct, type Product } from "./product.ts"
import { accompany, describeShot, sitePictures, siteShots, siteTexts } from "./site-shots.ts"
import { surfacesOf } from "./surfaces.ts"

const folder = resolve(import.meta.dirname, "pages")
const WIDTHS = [390, 768, 1440]
const THEMES = ["light", "dark"] as const

const words = process.argv.slice(2).filter((word) => word !== "--german")
const locale = process.argv.includes("--german") ? "de-DE" : "en-GB"
const product = await serveProduct()
const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] })
try {
  if (words.includes("--site")) await pictureForSite(browser, product)
  else await pictureEverything(browser, product, words)
} finally {
  await browser.close()
  await product.stop()
}

async function pictureEverything(from: Browser, served: Product, wanted: string[]) {
  const shots = [...pagesOf(served), ...surfacesOf(served)].filter(
    ({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)),
  )
  if (wanted.length === 0) rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const theme of THEMES) {
    for (const width of WIDTHS) {
      const look = { colorScheme: theme, locale, viewport: { width, height: width < 500 ? 844 : 900 } }
      for (const { name, path, as, reveal } of shots) {
        const page = await open(from, served, as, look)
        await show(page, served.origin + path)
        await reveal?.(page)
        // What was revealed may lie over a page of any height.
        const picture = resolve(folder, `${name}-${width}-${theme}.png`)
        await page.screenshot({ path: picture, fullPage: reveal === undefined })
        await page.context().close()
      }
    }
  }
  writeFileSync(resolve(folder, "index.html"), indexOf(shots.map(({ name }) => name)))
  process.stdout.write(`${resolve(folder, "index.html")}\n`)
}

/** What the start page shows of the product. Twice as many pixels as points, for fine screens. */
async function pictureForSite(from: Browser, served: Product) {
  mkdirSync(sitePictures, { recursive: true })
  const grants = await accompany(from, served)
  const texts: Record<string, string> = {}
  for (const { name, path, viewport } of siteShots(served)) {
    for (const theme of THEMES) {
      const page = await open(from, served, "ada", { colorScheme: theme, viewport, deviceScaleFactor: 2 })
      await show(page, served.origin + path)
      texts[name] = await describeShot(page)
      const picture = await page.screenshot()
      await sharp(picture)
        .resize({ width: Math.min(viewport.width * 2, 1920) })
        .avif({ quality: 58, effort: 6 })
        .toFile(resolve(sitePictures, `${name}-${theme}.avif`))
      await page.context().close()
    }
  }
  await grants.close()
  writeFileSync(siteTexts, `${JSON.stringify(texts, null, 2)}\n`)
  await pictureStartPage(from, served)
}

/** With two boats moved, so that it shows what it does. */
async function pictureStartPage(from: Browser, served: Product) {
  const page = await open(from, served, undefined, {
    viewport: { width: 1200, height: 1180 },
    deviceScaleFactor: 1.5,
  })
  await show(page, served.origin)
  await page.locator("#live").scrollIntoViewIfNeeded()
  await page.locator("[data-pane][data-live]").nth(1).waitFor()
  await page.getByRole("button", { name: "Fulmar: at sea" }).last().click()
  await page.getByText("set state = 'coming in'").waitFor()
  await page.getByRole("button", { name: "Lamp of Grey Seal" }).first().click()
  await page.getByText("set lamp = true").waitFor()
  await page.mouse.move(0, 0)
  await page.waitForTimeout(900)
  await sharp(await page.screenshot())
    .png({ palette: true, colours: 200, effort: 8 })
    .toFile(resolve(import.meta.dirname, "../docs/images/start-page.png"))
  await page.context().close()
}

function indexOf(names: string[]): string {
  const rows = names.map((name) => {
    const pictures = WIDTHS.flatMap((width) =>
      THEMES.map(
        (theme) =>
          `<a href="${name}-${width}-${theme}.png"><img src="${name}-${width}-${theme}.png" width="${width / 4}" loading="lazy" alt="${name}, ${width} pixels, ${theme}"></a>`,
      ),
    )
    return `<section><h2>${name}</h2><div>${pictures.join("")}</div></section>`
  })
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Gallery</title><style>body{font:15px system-ui;margin:2rem;background:#eee}div{display:flex;gap:1rem;align-items:start;overflow-x:auto}img{border:1px solid #bbb;background:#fff}</style><h1>Every page</h1>${rows.join("\n")}</html>\n`
}
