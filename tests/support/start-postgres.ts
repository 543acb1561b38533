import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import postgres from "postgres"
import type { TestProject } from "vitest/node"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { migrate } from "#db/migrate.ts"
import { databaseUrl, TEMPLATE } from "./database-url.ts"
import { WORKERS } from "./workers.ts"

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string
  }
}

const migrations = resolve(import.meta.dirname, "../../db/migrations")

/** One PostgreSQL for all test files, with the migrated template of the test databases. */
export default async function startPostgres(project: TestProject) {
  const directory = mkdtempSync(join(tmpdir(), "tideline-postgres-"))
  const cluster = await startEmbeddedPostgres({
    directory,
    // No data has to outlive the run, and many test files and their servers connect at the same
    // time.
    settings: { fsync: "off", full_page_writes: "off", max_connections: String(100 * WORKERS) },
  })
  const stop = async () => {
    await cluster.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await createTemplate(cluster.url)
  } catch (error) {
    await stop()
    throw error
  }
  project.provide("postgresUrl", cluster.url)
  return stop
}

async function createTemplate(cluster: string) {
  const sql = postgres(cluster, { max: 1 })
  await sql`create database ${sql(TEMPLATE)}`
  await sql.end()
  await migrate(databaseUrl(cluster, TEMPLATE), migrations)
}
