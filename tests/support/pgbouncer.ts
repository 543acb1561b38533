import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import postgres from "postgres"
import { findFreePort } from "./ports.ts"

const PROGRAM = "/usr/sbin/pgbouncer"

/** Debian's PgBouncer; installed if it is missing and we may: in a fresh container, as root. */
export function installPgbouncer(): void {
  if (existsSync(PROGRAM)) return
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get"))
    throw new Error("PgBouncer was not found. Install it: apt-get install pgbouncer")
  const options = { stdio: ["ignore", "ignore", "inherit"] as ["ignore", "ignore", "inherit"] }
  process.stdout.write("Installing PgBouncer.\n")
  execFileSync("apt-get", ["update", "-q"], options)
  execFileSync("apt-get", ["install", "-yq", "--no-install-recommends", "pgbouncer"], options)
}

/**
 * A PgBouncer as Debian ships it, in transaction mode, with `size` connections to the database
 * behind `databaseUrl`.
 */
export async function startPgbouncer(databaseUrl: string, size = 4) {
  installPgbouncer()
  const direct = new URL(databaseUrl)
  const name = direct.pathname.slice(1)
  const port = await findFreePort()
  const folder = mkdtempSync(join(tmpdir(), "tideline-pgbouncer-"))
  const password = decodeURIComponent(direct.password)
  const to = `host=${direct.hostname} port=${direct.port} dbname=${name} user=${direct.username} password=${password}`
  const settings = `
    [databases]
    ${name} = ${to}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${port}
    unix_socket_dir =
    auth_type = any
    pool_mode = transaction
    default_pool_size = ${size}
    server_check_delay = 0
    admin_users = ${direct.username}
    max_client_conn = 500
    verbose = 0`
  const file = join(folder, "pgbouncer.ini")
  writeFileSync(file, settings.replaceAll(/^ +/gm, ""), { mode: 0o644 })
  execFileSync("chmod", ["755", folder])
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0
  const child = spawn(PROGRAM, [...(isRoot ? ["-u", "nobody"] : []), file], { stdio: "ignore" })
  const exited = once(child, "exit")
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${port}`
  await answers(url.href)
  return {
    url: url.href,
    async stop() {
      child.kill("SIGINT")
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const sql = postgres(url, { max: 1, prepare: false, onnotice() {} })
    try {
      await sql`select 1`
      return
    } catch (error) {
      if (attempt === 100) throw error
      await sleep(50)
    } finally {
      await sql.end({ timeout: 0 }).catch(() => {})
    }
  }
}
