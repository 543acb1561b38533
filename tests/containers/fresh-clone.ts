import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { findFreePort } from "../support/ports.ts"

const root = resolve(import.meta.dirname, "../..")

export type FreshClone = Awaited<ReturnType<typeof cloneCommitted>>

/** A clone of what is committed, with these lines in its `.env`, and a Docker project of its own. */
export async function cloneCommitted(project: string, settings: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), `${project}-`))
  const clone = join(folder, "tideline")
  execFileSync("git", ["clone", "--quiet", root, clone])
  if (settings.length > 0) writeFileSync(join(clone, ".env"), `${settings.join("\n")}\n`)
  const port = await findFreePort()
  // In the environment, so that the clone is started as it is, beside whatever else runs on this
  // machine.
  const environment = {
    ...process.env,
    COMPOSE_PROJECT_NAME: project,
    PORT: String(port),
    MAIL_INBOX_PORT: String(await findFreePort()),
  }

  return {
    /** For files of the caller as well. */
    folder,
    project,
    port,
    compose(...words: string[]) {
      const options = { cwd: clone, env: environment, maxBuffer: 1 << 28 }
      return promisify(execFile)("docker", ["compose", ...words], options)
    },
    async remove() {
      await this.compose("down", "--volumes", "--remove-orphans")
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Says what was done, once it is. */
export async function step<Result>(words: string, act: () => Promise<Result>): Promise<Result> {
  const begun = Date.now()
  const result = await act()
  process.stdout.write(`  ok   ${words} (${((Date.now() - begun) / 1000).toFixed(0)} s)\n`)
  return result
}
