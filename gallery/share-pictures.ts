/**
 * Draws what a link to each public page shows of it, into public/previews, and lists them in
 * app/features/site/share-pictures.json.
 *
 *     npm run share-pictures
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { resolve } from "node:path"
import { chromium, type Page } from "playwright-core"
import sharp from "sharp"
import { findBrowser } from "../tests/support/browser.ts"
import { publicPages } from "./pages.ts"
import { serveProduct } from "./product.ts"

const root = resolve(import.meta.dirname, "..")
const folder = resolve(root, "public/previews")
const list = resolve(root, "app/features/site/share-pictures.json")
const geist = readFileSync(
  createRequire(import.meta.url).resolve("@fontsource-variable/geist/files/geist-latin-wght-normal.woff2"),
).toString("base64")

interface Words {
  path: string
  title: string
  description: string
}

const product = await serveProduct()
const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] })
try {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 } })
  const pictures: Record<string, { file: string; title: string }> = {}
  for (const words of await wordsOfPages()) {
    const file = `/previews/${words.path === "/" ? "start" : words.path.slice(1).replaceAll("/", "-")}.png`
    await draw(page, words, resolve(root, `public${file}`))
    pictures[words.path] = { file, title: words.title }
  }
  writeFileSync(list, `${JSON.stringify(pictures, null, 2)}\n`)
} finally {
  await browser.close()
  await product.stop()
}

/**
 * The titles and descriptions of the pages: those of the gallery, and every post and page of the
 * documentation.
 */
async function wordsOfPages(): Promise<Words[]> {
  const paths = new Set(publicPages.map(({ path }) => path).filter((path) => !/^\/sign-|\?/.test(path)))
  for (const path of ["/blog", "/docs/introduction"]) {
    const html = await textOf(path)
    for (const [, found = ""] of html.matchAll(/href="(\/(?:blog|docs)\/[\w-]+)"/g)) paths.add(found)
  }
  return Promise.all([...paths].toSorted().map(async (path) => wordsOf(path, await textOf(path))))
}

async function textOf(path: string): Promise<string> {
  const response = await fetch(product.origin + path)
  if (!response.ok) throw new Error(`${path} answered ${response.status}.`)
  return response.text()
}

function wordsOf(path: string, html: string): Words {
  const said = (name: string) => new RegExp(`property="og:${name}" content="([^"]*)"`).exec(html)?.[1] ?? ""
  return { path, title: said("title"), description: said("description") }
}

async function draw(page: Page, words: Words, file: string) {
  await page.setContent(drawingOf(words))
  await page.evaluate("document.fonts.ready")
  const picture = await page.screenshot()
  await sharp(picture).png({ palette: true, colours: 128, effort: 8 }).toFile(file)
}

/** The texts come from our own pages, where they are escaped already. */
function drawingOf({ path, title, description }: Words): string {
  const section = path.startsWith("/blog") ? "Blog" : path.startsWith("/docs") ? "Documentation" : ""
  const shown = path === "/" ? "Your team's AI workspace, on your own server." : title
  const waves = Array.from(
    { length: 4 },
    (_, at) =>
      `<path d="M-40 ${548 + at * 26} q 80 ${-26 + at * 2} 160 0 t 160 0 t 160 0 t 160 0 t 160 0 t 160 0 t 160 0 t 160 0" stroke-opacity="${0.4 - at * 0.07}"/>`,
  ).join("")
  return `<!doctype html><meta charset="utf-8"><style>
@font-face { font-family: Geist; src: url(data:font/woff2;base64,${geist}); font-weight: 100 900 }
* { box-sizing: border-box; margin: 0 }
body { width: 1200px; height: 630px; padding: 72px 80px; background: oklch(0.168 0.012 235); color: oklch(0.955 0.004 220); font-family: Geist; position: relative; overflow: hidden }
body::before { content: ""; position: absolute; inset: 0; background: radial-gradient(60% 80% at 80% 0%, oklch(0.4 0.08 215 / 0.55), transparent) }
svg.sea { position: absolute; inset: 0; fill: none; stroke: oklch(0.755 0.1 205); stroke-width: 2 }
header { position: relative; display: flex; align-items: center; gap: 18px; font-size: 34px; font-weight: 600; letter-spacing: -0.02em }
header i { margin-left: auto; font-style: normal; font-weight: 450; font-size: 26px; color: oklch(0.82 0.1 203) }
h1 { position: relative; margin-top: ${shown.length > 44 ? 56 : 72}px; max-width: 980px; font-size: ${shown.length > 44 ? 66 : 84}px; line-height: 1.04; letter-spacing: -0.042em; font-weight: 600; text-wrap: balance }
p { position: relative; margin-top: 28px; max-width: 900px; font-size: 29px; line-height: 1.4; color: oklch(0.755 0.012 225); display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden }
</style>
<svg class="sea" viewBox="0 0 1200 630">${waves}</svg>
<header><svg width="56" height="56" viewBox="0 0 24 24"><rect width="24" height="24" rx="6.5" fill="oklch(0.755 0.1 205)"/><path d="M4.5 14.25c1.9 0 1.9-1.7 3.75-1.7s1.9 1.7 3.75 1.7 1.9-1.7 3.75-1.7 1.9 1.7 3.75 1.7M4.5 8.5h15" fill="none" stroke="oklch(0.17 0.03 225)" stroke-width="2" stroke-linecap="round"/></svg>Tideline<i>${section}</i></header>
<h1>${shown}</h1><p>${description}</p>`
}
