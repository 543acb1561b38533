import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { readMigrationFiles } from "drizzle-orm/migrator"
import postgres from "postgres"
import { describe, expect, it, onTestFinished } from "vitest"
import { migrate } from "#db/migrate.ts"
import { additionsFor, versionOf } from "#db/postgres-17.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { findBreaks, readSchema } from "../support/schema-changes.ts"

const migrations = resolve(import.meta.dirname, "../../db/migrations")

/** Earlier migrations were never released: nobody runs a program that knows fewer. */
const FIRST_RULED = 15

describe("a migration", () => {
  it("keeps the previous version working, or says in its first line that it does not", async () => {
    const { sql } = await emptyDatabase()
    await sql.unsafe(additionsFor(await versionOf(sql)))
    let schema = await readSchema(sql)
    for (const [index, { sql: statements }] of readMigrationFiles({
      migrationsFolder: migrations,
    }).entries()) {
      for (const statement of statements) await sql.unsafe(statement)
      const next = await readSchema(sql)
      const text = statements.join("\n")
      const widened = [...text.matchAll(/^-- Widens (\w+)\.$/gm)].map(([, name]) => name)
      const breaks = findBreaks(schema, next).filter(
        (words) => !widened.some((name) => words.includes(`: ${name} `)),
      )
      const [, mark] = /^-- No program before (\d{4}) runs on this\.$/m.exec(text) ?? []
      if (mark) expect(Number(mark)).toBeLessThanOrEqual(index)
      else if (index >= FIRST_RULED) expect(breaks, `migration ${index}`).toEqual([])
      schema = next
    }
  })

  it.each([
    ["drop table devices", "public.devices is gone"],
    ["alter table users drop column plan", "public.users.plan is gone"],
    ["alter table users rename column plan to tariff", "public.users.plan is gone"],
    ["alter table files alter column size type numeric", "public.files.size was bigint and is numeric"],
    ["alter table users alter column name set not null", "public.users.name may no longer be null"],
    ["alter table users alter column _id drop default", "public.users._id has lost its default"],
    [
      "alter table users add column motto text not null",
      "public.users.motto is new, has no default and may not be null",
    ],
    [
      "alter table users add constraint short check (length(name) < 9)",
      "public.users: short refuses what was accepted",
    ],
    ["create unique index by_name on users (name)", "public.users: by_name refuses what was accepted"],
    [
      "drop index users_by_clerk_id",
      "public.users: users_by_clerk_id is gone, by which rows were told apart",
    ],
    [
      "drop function search_words cascade",
      expect.stringMatching(/^the function search_words\(.*\) is gone$/),
    ],
    [
      "alter table users replica identity using index users_by_clerk_id",
      "the replica identity of users has lost a column",
    ],
  ])("saying %s requires the previous version to stop", async (statement, words) => {
    expect(await breaksOf(statement)).toContainEqual(words)
  })

  it("that only adds does not", async () => {
    expect(
      await breaksOf(`
        create table notes (_id uuid primary key, words text not null unique);
        alter table users add column motto text, add column rank bigint not null default 0;
        alter table users add constraint motto_short check (length(motto) < 9);
        create index users_by_name on users (name);
        create unique index users_by_id_name on users (name, _id);
        alter table users alter column email drop not null;
        alter table users drop constraint if exists users_plan`),
    ).toEqual([])
  })
})

describe("an older version on a newer database", () => {
  it("starts if the newer migrations only add", async () => {
    const { url, sql } = await emptyDatabase()
    await migrate(url, newerBy("alter table users add column motto text"))
    await migrate(url, migrations)
    expect(await sql`select motto from users`).toEqual([])
  })

  it("is told to stop if a migration says so, however many processes have started since", async () => {
    const { url } = await emptyDatabase()
    const { length } = readMigrationFiles({ migrationsFolder: migrations })
    const mark = `-- No program before ${String(length).padStart(4, "0")} runs on this.`
    const newer = newerBy(`${mark}\nalter table users drop column plan`)
    for (let start = 0; start < 2; start++) {
      await migrate(url, newer)
      await expect(migrate(url, migrations)).rejects.toThrow("The database was migrated by a newer Tideline.")
    }
  })

  it("is told to stop if no record says which versions work with the database", async () => {
    const { url, sql } = await emptyDatabase()
    await migrate(url, newerBy("alter table users add column motto text"))
    await sql`drop table drizzle.oldest_program`
    await expect(migrate(url, migrations)).rejects.toThrow("The database was migrated by a newer Tideline.")
  })
})

it("three processes that start together on an empty database migrate it once", async () => {
  const { url, sql } = await emptyDatabase()
  await Promise.all([migrate(url, migrations), migrate(url, migrations), migrate(url, migrations)])
  const [applied] = await sql`select count(*)::int as count from drizzle.__drizzle_migrations`
  expect(applied?.["count"]).toBe(readMigrationFiles({ migrationsFolder: migrations }).length)
})

const emptyDatabase = () => openTestDatabase({ empty: true })

async function openTestDatabase(options?: { empty: boolean }) {
  const { url, close } = await createTestDatabase(options)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  onTestFinished(async () => {
    await sql.end()
    await close()
  })
  return { url, sql }
}

async function breaksOf(statement: string): Promise<string[]> {
  const { sql } = await openTestDatabase()
  const before = await readSchema(sql)
  await sql.unsafe(statement)
  return findBreaks(before, await readSchema(sql))
}

/** The migrations of a program with one more. */
function newerBy(statement: string): string {
  const folder = mkdtempSync(join(tmpdir(), "migrations-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(migrations, folder, { recursive: true })
  const path = join(folder, "meta/_journal.json")
  const journal = JSON.parse(readFileSync(path, "utf8")) as {
    entries: { idx: number; when: number; tag: string }[]
  }
  const last = journal.entries.at(-1)
  if (!last) throw new Error("There is no migration.")
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1000, tag: "newer" })
  writeFileSync(path, JSON.stringify(journal))
  writeFileSync(join(folder, "newer.sql"), statement)
  return folder
}
