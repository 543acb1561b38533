import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { join } from "node:path"
import type { Backend } from "./balancer.ts"

export interface Members {
  readonly backends: readonly Backend[]
  /** Drains them. */
  stop(): Promise<void>
}

/**
 * Several processes of the build with the settings of `.env`, except for what they share and where
 * they listen. Their logs are files in `folder`.
 */
export function startMembers({
  root,
  server,
  folder,
  backends,
  origin,
  databaseUrl,
  followedUrls,
  smtpUrl,
}: {
  root: string
  /** The script of the built server. */
  server: string
  folder: string
  backends: readonly Backend[]
  origin: string
  databaseUrl: string
  /** Of each server, which the processes read from. */
  followedUrls: readonly string[]
  smtpUrl: string
}): Members {
  const children = backends.map((backend, at): ChildProcess => {
    const child = spawn(process.execPath, [server], {
      cwd: root,
      // Ctrl+C in the terminal reaches the command alone, which stops them.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        NODE_ENV: "production",
        HOST: "127.0.0.1",
        PORT: String(backend.port),
        OPS_PORT: String(backend.ops),
        OPS_HOST: "127.0.0.1",
        APP_URL: origin,
        TRUSTED_PROXIES: "loopback",
        DATABASE_URL: databaseUrl,
        DATABASE_STREAM_URL: "",
        FOLLOW_DATABASE_URL: followedUrls.join(","),
        FOLLOW_CONFIRMED_BY: "2",
        DATA_DIR: join(folder, `process-${at + 1}`),
        BLOBS_URL: `file://${join(folder, "blobs")}`,
        SMTP_URL: smtpUrl,
        BACKUP_SCHEDULE: "",
        BACKUP_HISTORY: "0",
      },
    })
    const log = createWriteStream(join(folder, `process-${at + 1}.log`))
    child.stdout?.pipe(log, { end: false })
    child.stderr?.pipe(log, { end: false })
    return child
  })
  const end = () => children.forEach((child) => child.kill("SIGTERM"))
  process.once("exit", end)
  return {
    backends,
    async stop() {
      const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      const gone = Promise.all(running.map((child) => once(child, "exit")))
      end()
      await gone
      process.off("exit", end)
    },
  }
}
