import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { Settings } from "#server/settings.ts"
import packageJson from "../../package.json" with { type: "json" }

const root = resolve(import.meta.dirname, "../..")

const alerts = readFileSync(join(root, "ops/prometheus/alerts.yml"), "utf8")
const rules = alerts
  .split(/^ *- alert: /m)
  .slice(1)
  .map((rule) => ({ alert: /^\w+/.exec(rule)?.[0], runbook: /^ *runbook: (.+)$/m.exec(rule)?.[1] }))
const pages = readdirSync(join(root, "docs/runbooks"))

describe("a runbook", () => {
  it("exists for each alert, which names it, and for nothing else", () => {
    expect(rules.length).toBeGreaterThan(10)
    expect(rules.map(({ runbook }) => runbook)).toEqual(rules.map(({ alert }) => `docs/runbooks/${alert}.md`))
    expect(pages.toSorted()).toEqual(rules.map(({ alert }) => `${alert}.md`).toSorted())
  })

  it.each(pages)("%s says what people notice, where to look, what to do and what comes after", (page) => {
    const text = read(page)
    expect(text.split("\n", 1)[0]).toBe(`# ${page.replace(/\.md$/, "")}`)
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual([
      "What people notice",
      "Look",
      "Do",
      "Afterwards",
    ])
  })

  it.each(pages)("%s names commands and settings that exist", (page) => {
    const text = read(page)
    const commands = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name)
    expect(commands.filter((name) => !(name in packageJson.scripts))).toEqual([])
    const settings = [...text.matchAll(/`([A-Z]{2,}_[A-Z_]+)`/g)].map(([, name = ""]) => name)
    expect(settings.filter((name) => !(name in Settings.entries))).toEqual([])
  })
})

function read(page: string): string {
  return readFileSync(join(root, "docs/runbooks", page), "utf8")
}
