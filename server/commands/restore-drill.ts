import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { findFreePort } from "#db/embedded/postgres.ts"
import type { Config } from "#server/config.ts"
import { previewEnvironment } from "#server/environment.ts"

/** What the drill needs of this machine. */
const OF_THE_MACHINE = ["HOME", "LANG", "NODE_EXTRA_CA_CERTS", "PATH", "TMPDIR", "TZ"]
/** What it needs of the settings to read a backup in a bucket: only the restore gets them. */
const OF_THE_BUCKET =
  /^(?:BACKUP_S3_(?:ENDPOINT|REGION|ACCESS_KEY_ID|SECRET_ACCESS_KEY)|S3_(?:ENDPOINT|REGION|ACCESS_KEY_ID|SECRET_ACCESS_KEY))$/

/**
 * Restores a backup into a folder of its own, runs Tideline there until it is told to stop, and
 * removes the folder. It gets none of the settings that lead to the real installation: no database,
 * store, mail server, schedule or folder of backups. `words` are the arguments of the restore.
 */
export async function runDrill(
  root: string,
  words: readonly string[],
  { identity }: Pick<Config, "identity">,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "tideline-drill-"))
  const port = String(await findFreePort())
  const own: Record<string, string> = {
    // Or authenticator apps and links in emails would be refused.
    AUTH_SECRET: identity.authSecret,
    NODE_ENV: "production",
    DATA_DIR: join(folder, ".data"),
    HOST: "127.0.0.1",
    PORT: port,
    MAIL_INBOX_PORT: "0",
    AI_GATEWAY_API_KEY: "embedded",
    BACKUP_SCHEDULE: "elsewhere",
  }
  for (const name of OF_THE_MACHINE) if (process.env[name] !== undefined) own[name] = process.env[name]
  let running: ChildProcess | null = null
  let isTold = false
  const stop = () => {
    isTold = true
    running?.kill("SIGTERM")
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop)
  try {
    running = begin(programIn("restore"), words, folder, { ...bucketSettings(root), ...own })
    if ((await codeOf(running)) !== 0 || isTold) {
      process.exitCode = 1
      return
    }
    process.stdout.write(`The drill runs in ${folder}. Ctrl+C ends it and removes the folder.\n`)
    running = begin(programIn("start"), [], folder, own)
    const code = await codeOf(running)
    if (!isTold) process.exitCode = code
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  process.stdout.write("The drill is over, and its folder is removed.\n")
}

/** A program beside this one: in the sources, or in a build. */
function programIn(name: "restore" | "start"): string {
  const source = resolve(import.meta.dirname, `${name}.ts`)
  if (existsSync(source)) return source
  return resolve(import.meta.dirname, name === "start" ? "index.js" : `${name}.js`)
}

function bucketSettings(root: string): Record<string, string> {
  const settings = previewEnvironment({ file: ".env", example: join(root, ".env.example") }, process.env)
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(settings))
    if (OF_THE_BUCKET.test(name) && value) found[name] = value
  return found
}

/** A group of its own: Ctrl+C reaches the drill alone, which stops it. */
function begin(program: string, words: readonly string[], cwd: string, env: Record<string, string>) {
  return spawn(process.execPath, [program, ...words], { cwd, env, stdio: "inherit", detached: true })
}

async function codeOf(child: ChildProcess): Promise<number> {
  const [code] = await once(child, "exit")
  return typeof code === "number" ? code : 1
}
