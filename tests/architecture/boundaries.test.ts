import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { findCircles, type Cruise } from "../../ops/boundaries.ts"

const root = resolve(import.meta.dirname, "../..")
const architecture = readFileSync(join(root, "docs/architecture.md"), "utf8")

/** For each rule, files that break it. */
const VIOLATIONS: Record<string, Record<string, string>> = {
  "no-cycles": {
    "server/files/planted-a.ts": `import { b } from "./planted-b.ts"\nexport const a = () => b`,
    "server/files/planted-b.ts": `import { a } from "./planted-a.ts"\nexport const b = () => a`,
  },
  "ui-knows-nothing": { "app/ui/planted.ts": `import "#server/users/contract.ts"` },
  "browser-code-sees-contracts-only": {
    "app/features/planted.ts": `import type { User } from "#db/schema/users.ts"`,
  },
  "routes-call-domains": { "app/routes/planted.ts": `import { openDatabase } from "#db/client.ts"` },
  "server-never-imports-app": { "server/users/planted.ts": `import routes from "#app/routes.ts"` },
  "db-is-a-leaf": { "db/planted.ts": `import { openLog } from "#server/log.ts"` },
  "live-knows-no-product": {
    "live/server/planted.ts": `import { users } from "#db/schema/users.ts"`,
  },
  "live-by-its-entries": {
    "server/users/planted-entry.ts": `import { Hub } from "../../live/server/hub.ts"`,
  },
  "adapters-only-at-the-root": {
    "server/mail/planted.ts": `import type { openSmtpMail } from "#server/adapters/mail/smtp.ts"`,
  },
  "adapters-import-ports-only": {
    "server/adapters/mail/planted.ts": `import { findUser } from "#server/users/users.ts"`,
  },
  "domains-not-http": {
    "server/notifications/planted.ts": `import { requireScope } from "#server/http/scope.ts"`,
  },
  "transport-knows-no-domain": {
    "server/transport/planted.ts": `import { findUser } from "#server/users/users.ts"`,
  },
  "ports-are-leaves": { "server/ports/planted.ts": `import { openLog } from "#server/log.ts"` },
  "sdks-live-in-adapters": { "server/chat/planted.ts": `import { createTransport } from "nodemailer"` },
}

/** Chat imports files. */
const CIRCLE = {
  "server/files/planted-circle.ts": `import type { ThreadSummary } from "#server/chat/contract.ts"\nexport type One = ThreadSummary`,
}

let copy: string
let found: Cruise

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "tideline-boundaries-"))
  for (const part of [
    "app",
    "server",
    "db",
    "live",
    "package.json",
    "tsconfig.json",
    ".dependency-cruiser.cjs",
  ]) {
    cpSync(join(root, part), join(copy, part), { recursive: true })
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  for (const [path, text] of [...Object.values(VIOLATIONS), CIRCLE].flatMap((files) =>
    Object.entries(files),
  )) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    writeFileSync(join(copy, path), `${text}\n`)
  }
  const cruiser = join(root, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs")
  const output = execFileSync(
    process.execPath,
    [cruiser, "app", "server", "db", "live", "--output-type", "json"],
    {
      cwd: copy,
      maxBuffer: 2 ** 28,
    },
  )
  found = JSON.parse(output.toString()) as Cruise
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

describe("the rules of .dependency-cruiser.cjs", () => {
  it("cover all code", () => {
    expect(found.modules.length).toBeGreaterThan(200)
  })

  it("each have a violation planted in this test", () => {
    const { forbidden } = createRequire(import.meta.url)("../../.dependency-cruiser.cjs") as {
      forbidden: { name: string }[]
    }
    expect(Object.keys(VIOLATIONS).toSorted()).toEqual(forbidden.map(({ name }) => name).toSorted())
  })

  it.each(Object.entries(VIOLATIONS))("catch what breaks %s", (rule, files) => {
    const broken = found.summary.violations
      .filter(({ from }) => from in files)
      .map((violation) => violation.rule.name)
    expect(broken).toContain(rule)
  })
})

describe("the folders", () => {
  it("import each other in one direction, types included", () => {
    expect(findCircles(found.modules.filter(({ source }) => !source.includes("planted")))).toEqual([])
  })

  it("are in a circle if one imports a type of a folder above it", () => {
    const [path = ""] = Object.keys(CIRCLE)
    const modules = found.modules.filter(({ source }) => source === path || !source.includes("planted"))
    const [circle = [], ...others] = findCircles(modules)
    expect(circle).toHaveLength(2)
    expect(circle).toContain(`${path} → server/chat/contract.ts`)
    expect(others).toEqual([])
  })

  it("import only their own layer and those below it in docs/architecture.md", () => {
    const [, text = ""] = /## Layers\n[^]*?```\n([^]*?)```/.exec(architecture) ?? []
    const layers = text
      .split("\n")
      .map((line) => line.match(/(?<=^|\s)(?:app|server|db|live)[\w/.-]*/g) ?? [])
      .filter((places) => places.length > 0)
    const depth = (path: string) => {
      const of = layers.map((places) =>
        Math.max(...places.map((place) => (isIn(path, place) ? place.length : 0))),
      )
      const longest = Math.max(...of)
      return longest === 0 ? null : of.indexOf(longest)
    }
    const upwards = found.modules
      .filter(({ source }) => !source.includes("planted"))
      .flatMap(({ source, dependencies }) => dependencies.map(({ resolved }) => [source, resolved] as const))
      .filter(([from, to]) => (depth(to) ?? Infinity) < (depth(from) ?? -1))
    expect(layers.length).toBeGreaterThan(5)
    expect(upwards).toEqual([])
  })
})

function isIn(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`)
}
