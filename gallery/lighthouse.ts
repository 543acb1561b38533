/**
 * Lets Lighthouse judge the pages as a phone would load them, and prints its marks. Fails where one
 * is below the bar.
 *
 *     npm run lighthouse              all pages
 *     npm run lighthouse -- home blog those whose names contain a word
 *
 * Lighthouse is larger than the rest of the tools together and nothing else needs it, so npm
 * fetches it when it is asked for.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { chromium, type BrowserContext } from "playwright-core"
import { findBrowser } from "../tests/support/browser.ts"
import { findFreePort } from "../tests/support/ports.ts"
import { pagesOf } from "./pages.ts"
import { serveProduct } from "./product.ts"

const LIGHTHOUSE = "lighthouse@13.5.0"
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"] as const
const RUNS = 3
type Kind = "public" | "unlisted" | "dashboard"
type Marks = Record<(typeof CATEGORIES)[number], number>

/** Of a hundred. */
const BARS: Record<Kind, Marks> = {
  public: { performance: 98, accessibility: 100, "best-practices": 100, seo: 100 },
  unlisted: { performance: 98, accessibility: 100, "best-practices": 100, seo: 100 },
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
    const kind = as ? "dashboard" : isUnlisted ? "unlisted" : "public"
    const report = await judgeFairly(product.origin + path, kind, as && product[as])
    const marks = marksOf(report)
    process.stdout.write(
      row(
        name,
        CATEGORIES.map((category) => String(marks[category])),
      ),
    )
    const bars = BARS[kind]
    if (CATEGORIES.every((category) => marks[category] >= bars[category])) continue
    isBelow = true
    for (const complaint of complaintsOf(report)) process.stdout.write(`    ${complaint}\n`)
  }
} finally {
  await product.stop()
}
process.exitCode = isBelow ? 1 : 0

/**
 * One run's performance is as much the machine's as the page's: of three, the one in the middle
 * counts.
 */
async function judgeFairly(url: string, kind: Kind, cookies?: string): Promise<Report> {
  const reports = []
  for (let run = 0; run < RUNS; run++) reports.push(await judge(url, kind, cookies))
  const inOrder = reports.toSorted((a, b) => marksOf(a).performance - marksOf(b).performance)
  return inOrder[Math.floor(RUNS / 2)] as Report
}

/**
 * In a browser of its own, which has the cookies: as headers they would not reach the worker that
 * keeps the page live.
 */
async function judge(url: string, kind: Kind, cookies = ""): Promise<Report> {
  const profile = mkdtempSync(join(tmpdir(), "tideline-lighthouse-"))
  const port = await findFreePort()
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: findBrowser(),
    args: ["--no-sandbox", `--remote-debugging-port=${port}`],
  })
  try {
    await setCookies(browser, url, cookies)
    const options = [
      "--output=json",
      "--quiet",
      `--only-categories=${CATEGORIES.join(",")}`,
      `--port=${port}`,
      // Search engines should leave these pages out: robots.txt or the page says so, and Lighthouse
      // counts that as a third of the mark.
      ...(kind === "public" ? [] : ["--skip-audits=is-crawlable"]),
    ]
    const { stdout } = await promisify(execFile)(
      "npm",
      ["exec", "--yes", `--package=${LIGHTHOUSE}`, "--", "lighthouse", url, ...options],
      { maxBuffer: 64 * 1024 * 1024 },
    )
    return JSON.parse(stdout.slice(stdout.indexOf("{"))) as Report
  } finally {
    await browser.close()
    rmSync(profile, { recursive: true, force: true })
  }
}

async function setCookies(browser: BrowserContext, url: string, cookies: string) {
  for (const cookie of cookies.split("; ").filter(Boolean)) {
    const [name = "", ...value] = cookie.split("=")
    await browser.addCookies([{ name, value: value.join("="), url: new URL(url).origin }])
  }
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
