import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import postgres from "postgres"
import { describe, expect, it, onTestFinished } from "vitest"
import { loadDump, nameOf, type WrittenDump } from "#db/dump/load.ts"
import type { TableForm } from "#db/dump/form.ts"
import { readCopy } from "#db/dump/read-copy.ts"
import { withDump } from "#db/dump/write.ts"
import { migrate } from "#db/migrate.ts"
import { digesting } from "#server/backup/digest.ts"
import { amount, seeded } from "../realtime/support/form.ts"
import { aFolder, migrations } from "../support/backups.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { aRow, TYPES } from "../support/random-values.ts"

/** With a primary key, without one (so that rows may repeat), and with a single column. */
const TABLES = ["every_type", "every_type_unkeyed", "one_text"]

describe("a dump", () => {
  it("restores random rows of every type exactly, whatever the settings of both databases", async () => {
    const { below, chance } = seeded("dump of every type")
    const folder = withEveryType()
    const from = await open({ settings: ["German", "postgres_verbose", "escape", "-15", "Asia/Kathmandu"] })
    const to = await open({
      settings: ["SQL, DMY", "sql_standard", "escape", "0", "America/St_Johns"],
      empty: true,
    })
    await migrate(from.url, folder)
    const rows = Array.from({ length: amount(400, 20_000) }, () => aRow({ below, chance }))
    await insert(from.sql, rows)

    const dump = await readDump(from.url, () => 1 + below(3000))
    for (const table of TABLES) {
      const [counted] = await from.sql`select count(*)::int as rows from ${from.sql(table)}`
      expect([table, dump.tables.find(({ name }) => name === table)?.rows]).toEqual([
        table,
        counted?.["rows"],
      ])
    }
    await loadDump(to.url, folder, dump, () => Promise.resolve())

    for (const table of TABLES) {
      expect(await asText(to.sql, table)).toEqual(await asText(from.sql, table))
      expect((await asBinary(to.sql, table)).equals(await asBinary(from.sql, table))).toBe(true)
    }
    // What went in, not only what PostgreSQL made of it.
    const texts = await to.sql`select "text" as value from every_type order by id`
    expect(texts.map(({ value }) => value as unknown)).toEqual(rows.map(({ text }) => text))
  })

  it("continues after a table whose last rows fill the buffer before anybody reads them", async () => {
    const [from, watch] = [await open({}), await open({})]
    // 64 lines of 1 KB: the last one fills the stream, and the end follows in the same packet.
    await from.sql`create table filling as select repeat('x', 1023) as line from generate_series(1, 64)`
    await from.sql`create table filling_next as select 'y' as line`
    const sentAll = () => watch.sql`
      select from pg_stat_activity where application_name = 'tideline backup' and datname = ${from.name}
        and state = 'idle in transaction' and query like 'copy%"filling"%'`
    const sizes = await withDump(
      from.url,
      async (dump) => {
        const read: number[] = []
        for (const table of dump.tables.filter(({ name }) => name.startsWith("filling"))) {
          await dump.read(table, async (lines) => {
            if (table.name === "filling") await expect.poll(sentAll, { timeout: 20_000 }).toHaveLength(1)
            read.push((await buffer(lines)).byteLength)
          })
        }
        return read
      },
      (written) => Promise.resolve(written),
    )
    expect(sizes).toEqual([64 * 1024, 2])
  })

  it("is tried with every type that Tideline's tables have", async () => {
    const { sql } = await open({})
    const used = await sql<{ type: string }[]>`
      select distinct format_type(atttypid, null) as type from pg_attribute
        join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace
      where nspname in ('public', 'auth') and relkind = 'r' and attnum > 0 and not attisdropped`
    expect(used.length).toBeGreaterThan(5)
    expect(used.map(({ type }) => type).filter((type) => !TYPES.includes(type))).toEqual([])
  })
})

/** A Tideline whose last migration creates the tables of this test. */
function withEveryType(): string {
  const copy = aFolder()
  cpSync(migrations, copy, { recursive: true })
  const path = join(copy, "meta/_journal.json")
  const journal = JSON.parse(readFileSync(path, "utf8")) as { entries: object[] }
  journal.entries.push({ idx: 900, when: 4_102_444_800_000, tag: "0900_every_type" })
  writeFileSync(path, JSON.stringify(journal))
  const columns = TYPES.map((type) => `"${type}" ${type}`).join(", ")
  writeFileSync(
    join(copy, "0900_every_type.sql"),
    `create table every_type (id integer primary key, ${columns});
     create table every_type_unkeyed (${columns});
     create table one_text (value text)`,
  )
  return copy
}

interface Place {
  /** DateStyle, IntervalStyle, bytea_output, extra_float_digits and TimeZone of the database. */
  settings?: string[]
  empty?: boolean
}

async function open({ settings, empty = false }: Place) {
  const { url, close } = await createTestDatabase({ empty })
  onTestFinished(close)
  const name = new URL(url).pathname.slice(1)
  const first = postgres(url, { max: 1, onnotice: () => {} })
  for (const [index, value] of (settings ?? []).entries()) {
    await first.unsafe(`alter database "${name}" set ${SETTINGS[index]} = '${value}'`)
  }
  await first.end()
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  onTestFinished(() => sql.end())
  return { url, name, sql }
}

const SETTINGS = ["datestyle", "intervalstyle", "bytea_output", "extra_float_digits", "timezone"]

/** Not with COPY, which is what the dump uses. Values are read in PostgreSQL's ISO form. */
async function insert(sql: postgres.Sql, rows: Record<string, string | null>[]) {
  const json = JSON.stringify(rows.map((row, id) => ({ ...row, id })))
  const values = TYPES.map((type) => `(each ->> '${type}')::${type}`).join(", ")
  const from = "from jsonb_array_elements($1::text::jsonb) each"
  await sql.begin(async (tx) => {
    await tx.unsafe("set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres'")
    await tx.unsafe(`insert into every_type select (each ->> 'id')::integer, ${values} ${from}`, [json])
    const unkeyed = `insert into every_type_unkeyed select ${values} ${from}`
    await tx.unsafe(unkeyed, [json])
    await tx.unsafe(unkeyed, [json])
    await tx.unsafe(`insert into one_text select each ->> 'text' ${from}`, [json])
  })
}

/** The chunks that are loaded end anywhere, also within a character. */
async function readDump(url: string, chunkSize: () => number): Promise<WrittenDump> {
  return withDump(
    url,
    async (dump) => {
      const bytes = new Map<string, Buffer>()
      const tables: WrittenDump["tables"] = []
      for (const table of dump.tables) {
        await dump.read(table, async (lines) => {
          const read = digesting(lines)
          bytes.set(nameOf(table), await buffer(read))
          const { sha256, lines: rows } = read.digest()
          tables.push({ ...table, rows, sha256 })
        })
      }
      const { schema, sequences } = dump
      return {
        schema,
        sequences,
        tables,
        async *open(table: TableForm) {
          const all = bytes.get(nameOf(table)) ?? Buffer.alloc(0)
          for (let at = 0, size = 0; at < all.length; at += size) {
            size = chunkSize()
            yield all.subarray(at, at + size)
          }
        },
      }
    },
    (written) => Promise.resolve(written),
  )
}

/** Every row as PostgreSQL prints it. */
async function asText(sql: postgres.Sql, table: string): Promise<unknown[]> {
  await sql.unsafe(SAME_TEXT)
  const rows = await sql`select t::text as row from ${sql(table)} t order by t::text collate "C"`
  return rows.map(({ row }) => row as unknown)
}

/** What it stores, without any text in between. */
async function asBinary(sql: postgres.Sql, table: string): Promise<Buffer> {
  await sql.unsafe(SAME_TEXT)
  const statement = `copy (select * from "${table}" t order by t::text collate "C") to stdout (format binary)`
  return readCopy(
    (work) => work(sql),
    statement,
    (bytes) => buffer(bytes),
  )
}

const SAME_TEXT = `
  set datestyle = 'ISO'; set timezone = 'UTC'; set intervalstyle = 'iso_8601';
  set extra_float_digits = 1; set bytea_output = 'hex'`
