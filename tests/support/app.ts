import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createTestDatabase } from "./postgres.ts"
import { findFreePort } from "./ports.ts"
import { spawnTideline } from "./spawn-tideline.ts"

export interface TidelineApp {
  origin: string
  port: number
  /** The URL of the local inbox's pages. */
  inbox: string
  pid: number
  databaseUrl: string
  /** Where it stores its files; removed by `stop`. */
  dataDir: string
  /** Every line logged so far. */
  log: string[]
  /** Its exit code, once it has exited. */
  exited: Promise<number | null>
  /** Resolves with the log entry that has this message, once there is one. */
  logged(message: string): Promise<Record<string, unknown>>
  /** Drains it, as an operator would, and removes its files. */
  stop(): Promise<void>
}

/**
 * Runs the built server as in production, with its own database and folder. `env` overrides the
 * settings here; an empty `DATABASE_URL` gives it an embedded PostgreSQL.
 */
export async function startTideline(env: Record<string, string> = {}): Promise<TidelineApp> {
  const database = env["DATABASE_URL"] === undefined ? await createTestDatabase() : null
  const folder = mkdtempSync(join(tmpdir(), "tideline-"))
  const port = await findFreePort()
  const server = spawnTideline(folder, {
    PORT: String(port),
    ...(database && { DATABASE_URL: database.url }),
    ...env,
  })
  const stop = async () => {
    server.child.kill("SIGTERM")
    await server.exited
    await database?.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const { url } = await server.logged("Tideline is ready")
    return {
      origin: String(url),
      port,
      inbox: server.inbox(),
      pid: server.child.pid ?? 0,
      databaseUrl: database?.url ?? env["DATABASE_URL"] ?? "",
      dataDir: join(folder, ".data"),
      log: server.log,
      exited: server.exited,
      logged: server.logged,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
