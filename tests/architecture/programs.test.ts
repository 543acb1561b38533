import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

/** The source files that may start another program, and which ones they start. */
const STARTERS = {
  "server/files/thumbnailer.ts": "our own program for small pictures",
  "server/commands/bundle.ts": "the build",
  "server/commands/cluster/members.ts": "the processes of a cluster on a developer's machine",
  "server/commands/restore-drill.ts": "the restore and the process of a drill, for the operator who asked",
  "live/conformance/client-process.ts": "the client that a developer names",
  "db/embedded/account.ts": "the embedded PostgreSQL, under an account of its own",
  "db/embedded/binaries.ts": "the embedded PostgreSQL, for its version",
  "db/embedded/processes.ts": "ps, for the embedded PostgreSQL's processes",
  "db/generate.ts": "drizzle-kit, when a migration is written",
}

describe("other programs", () => {
  const starters = ["server", "db", "app", "live"].flatMap(sourcesIn).filter(({ text }) => {
    return /^import (?!type ).*"node:child_process"|require\("(node:)?child_process"\)/m.test(text)
  })

  it("are started in a few places only, and never with text from a request", () => {
    expect(starters.map(({ path }) => path).toSorted()).toEqual(Object.keys(STARTERS).toSorted())
  })

  it("are started without a shell", () => {
    for (const { path, text } of starters) expect(text, path).not.toMatch(/(?<!\.)\bexec(Sync)?\(|shell:/)
  })
})

function sourcesIn(folder: string) {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => join(folder, path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
}
