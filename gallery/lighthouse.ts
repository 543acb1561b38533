/**
 * Lets Lighthouse judge the pages as a phone would load them, and prints its marks. Fails where one is below the bar.
 *
 *     npm run lighthouse              all pages
 *     npm run lighthouse -- home blog those whose names contain a word
 *
 * Lighthouse is larger than the rest of the tools together and nothing else needs it, so npm fetches it when it is asked for.
 */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { findBrowser } from "../tests/support/browser.ts"
import { pagesOf } from "./pages.ts"
import { serveProduct } from "./product.ts"

const LIGHTHOUSE = "lighthouse@13.5.0"
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"] as const
type Marks = Record<(typeof CATEGORIES)[number], number>

/** Of a hundred. What search engines shall leave out has no bar there. */
const BARS: Record<"public" | "unlisted" | "dashboard", Partial<Marks>> = {
  public: { performance: 98, accessibility: 100, "best-practices": 100, seo: 100 },
  unlisted: { performance: 98, accessibility: 100, "best-practices": 100 },
  dashboard: { performance: 95, accessibility: 95, "best-practices": 95, seo: 95 },
}

interface Report {
  categories: Record<string, { score: number | null }>
  audits: Record<string, { title: string; score: number | null; scoreDisplayMode: string }>
}

const words = process.argv.slice(2)
const product = await serveProduct()
let isBelow = false
try {
  const pages = pagesOf(product).filter(
    ({ name, as }) => as !== "grace" && (words.length === 0 || words.some((word) => name.includes(word))),
  )
  process.stdout.write(row("page", ["performance", "accessibility", "practices", "SEO"]))
  for (const { name, path, as, isUnlisted } of pages) {
    if (name === "not-found") continue
    const report = await judge(product.origin + path, as && product[as])
    const marks = marksOf(report)
    process.stdout.write(
      row(
        name,
        CATEGORIES.map((category) => String(marks[category])),
      ),
    )
    const bars = BARS[as ? "dashboard" : isUnlisted ? "unlisted" : "public"]
    if (CATEGORIES.every((category) => marks[category] >= (bars[category] ?? 0))) continue
    isBelow = true
    for (const complaint of complaintsOf(report)) process.stdout.write(`    ${complaint}\n`)
  }
} finally {
  await product.stop()
}
process.exitCode = isBelow ? 1 : 0

async function judge(url: string, cookies: string | undefined): Promise<Report> {
  const options = [
    "--output=json",
    "--quiet",
    `--only-categories=${CATEGORIES.join(",")}`,
    "--chrome-flags=--headless=new --no-sandbox",
  ]
  if (cookies) options.push(`--extra-headers=${JSON.stringify({ Cookie: cookies })}`)
  const { stdout } = await promisify(execFile)(
    "npm",
    ["exec", "--yes", `--package=${LIGHTHOUSE}`, "--", "lighthouse", url, ...options],
    { env: { ...process.env, CHROME_PATH: findBrowser() }, maxBuffer: 64 * 1024 * 1024 },
  )
  return JSON.parse(stdout.slice(stdout.indexOf("{"))) as Report
}

function marksOf({ categories }: Report): Marks {
  const mark = (category: string) => Math.round((categories[category]?.score ?? 0) * 100)
  return {
    performance: mark("performance"),
    accessibility: mark("accessibility"),
    "best-practices": mark("best-practices"),
    seo: mark("seo"),
  }
}

function complaintsOf({ audits }: Report): string[] {
  return Object.entries(audits)
    .filter(
      ([, { score, scoreDisplayMode }]) =>
        scoreDisplayMode !== "informative" && score !== null && score < 0.9,
    )
    .map(([id, { title }]) => `${id}: ${title}`)
}

function row(name: string, cells: string[]): string {
  return `${name.padEnd(20)}${cells.map((cell) => cell.padStart(14)).join("")}\n`
}
