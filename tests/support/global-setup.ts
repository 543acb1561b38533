import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import postgres from "postgres"
import type { TestProject } from "vitest/node"
import { startEmbeddedPostgres } from "#db/embedded.ts"
import { migrate } from "#db/migrate.ts"
import { buildApp, isOutOfDate } from "#server/commands/bundle.ts"
import { installBrowser } from "./browser.ts"
import { databaseUrl, TEMPLATE } from "./database-url.ts"

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string
  }
}

const root = resolve(import.meta.dirname, "../..")

/** Once for all test files: one PostgreSQL, the migrated template, the build, and a browser. */
export default async function setup(project: TestProject) {
  const directory = mkdtempSync(join(tmpdir(), "tideline-postgres-"))
  const cluster = await startEmbeddedPostgres({
    directory,
    // Nothing here outlives the run. Many test files and their servers connect at once.
    settings: { fsync: "off", full_page_writes: "off", max_connections: "400" },
  })
  const admin = postgres(cluster.url, { max: 1 })
  await admin`create database ${admin(TEMPLATE)}`
  await admin.end()
  await migrate(databaseUrl(cluster.url, TEMPLATE), join(root, "db/migrations"))
  if (isOutOfDate(root)) await buildApp(root)
  installBrowser()
  project.provide("postgresUrl", cluster.url)
  return async () => {
    await cluster.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
