import { join } from "node:path"
import { onDatabase, type Database } from "#db/client.ts"
import { findRunningPostgres, startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { migrate } from "#db/migrate.ts"
import { readConfig, type Config } from "#server/config.ts"
import { loadEnvironment, previewEnvironment } from "#server/environment.ts"

/** The settings for an operator's command: the server's. `root` is the folder with package.json. */
export function readSettings(root: string): Config {
  return readConfig(loadEnvironment(filesOf(root), process.env))
}

/**
 * The same apart from `others`, for a command that may still be refused: it writes no `.env` if there
 * is none.
 */
export function previewSettings(root: string, others: Record<string, string> = {}): Config {
  return readConfig({ ...previewEnvironment(filesOf(root), process.env), ...others })
}

function filesOf(root: string) {
  return { file: ".env", example: join(root, ".env.example") }
}

/** Runs an operator's command on the database, after migrating it. */
export async function withDatabase<Result>(
  config: Config,
  root: string,
  work: (db: Database, url: string) => Promise<Result>,
): Promise<Result> {
  return withPostgres(config, async (url) => {
    await migrate(url, join(root, "db/migrations"))
    return onDatabase(url, { connections: 2 }, (db) => work(db, url))
  })
}

/** The same without migrating it. */
export async function withPostgres<Result>(
  config: Config,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const { url, stop } = await reachPostgres(config)
  try {
    return await work(url)
  } finally {
    await stop()
  }
}

async function nothingToStop() {}

/** The database of the running Tideline, or one that is started for the duration of the command. */
async function reachPostgres({ database }: Config) {
  // A command may need a session for a lock or a snapshot, which a pooler does not provide.
  if (database.kind === "external") return { url: database.streamUrl ?? database.url, stop: nothingToStop }
  const running = findRunningPostgres(database.directory)
  if (running) return { url: running, stop: nothingToStop }
  return startEmbeddedPostgres({ directory: database.directory })
}
