import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { slugOf } from "#server/docs/pages.ts"

const root = resolve(import.meta.dirname, "../..")
const files = filesIn("").filter((file) => !file.startsWith("db/migrations/"))
const pages = files.filter((file) => file.endsWith(".md") && file !== "CHANGELOG.md")
const decisions = files.flatMap((file) => /^docs\/decisions\/(\d{4})-/.exec(file)?.[1] ?? [])
const archive = read("docs/decisions/archive.md").matchAll(/\*\*(\d{4})\*\*/g)
const numbers = new Set([...decisions, ...[...archive].map(([, number = ""]) => number)])

/** Paths from the root, and sources that are named by the end of their path. */
const FOLDER = /^(?:app|clients|db|docs|live|ops|server|tests)\//
const SOURCE = /\w\.(?:cjs|mjs|py|sql|tsx?)$/

/** Files of the applications that docs/moving.md compares with this one. */
const ELSEWHERE = /^(?:middleware|convex\/schema)\.ts$/

describe("a document", () => {
  it.each(pages)("%s links to files and headings that exist", (page) => {
    const text = proseOf(page).replaceAll(/`[^`]*`/g, "")
    const links = [...text.matchAll(/\]\((?!https?:|mailto:|\/)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
    const broken = links.filter(([, path = "", heading]) => {
      const target = path ? normalize(join(dirname(page), path)) : page
      if (!existsSync(join(root, target))) return true
      return heading !== undefined && target.endsWith(".md") && !headingsOf(target).includes(heading)
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  it.each(pages)("%s names files of the repository that exist", (page) => {
    const names = [...proseOf(page).matchAll(/`([\w./$-]+)`/g)].map(([, name = ""]) => name)
    const missing = names.filter((name) => {
      if (FOLDER.test(name)) return !existsSync(join(root, name))
      if (!SOURCE.test(name) || ELSEWHERE.test(name)) return false
      return !files.some((file) => `/${file}`.endsWith(`/${name}`))
    })
    expect(missing).toEqual([])
  })
})

describe("a source", () => {
  const sources = files.filter((file) => /\.(?:ts|tsx|sql|yml|yaml|md)$/.test(file))

  it("names decisions that have a page or were archived", () => {
    expect(decisions.length).toBeGreaterThan(50)
    expect(decisions).toEqual([...new Set(decisions)])
    const missing = sources.flatMap((file) =>
      [...read(file).matchAll(/decisions?[ /](\d{4})/gi)]
        .map(([, number = ""]) => number)
        .filter((number) => !numbers.has(number))
        .map((number) => `${file}: ${number}`),
    )
    expect(missing).toEqual([])
  })

  it("links to headings of the documentation that exist", () => {
    const broken = sources.flatMap((file) =>
      [...read(file).matchAll(/docs\/([\w-]+)(?:\.md)?#([\w-]+)/g)]
        .filter(([, page, heading = ""]) => !headingsOf(`docs/${page}.md`).includes(heading))
        .map(([link]) => `${file}: ${link}`),
    )
    expect(broken).toEqual([])
  })
})

/** The repository's files, without what is installed, built or stored. */
function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return /^(?:\.|build|node_modules)/.test(entry.name) ? [] : filesIn(path)
  })
}

function read(file: string): string {
  const path = join(root, file)
  return existsSync(path) ? readFileSync(path, "utf8") : ""
}

function proseOf(page: string): string {
  return read(page).replaceAll(/^ *```[^]*?^ *```/gm, "")
}

function headingsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => slugOf(title))
}
