import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { additionsFor, REMOVE_ADDITIONS } from "#db/postgres-17.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

// The definitions for PostgreSQL 17, by their full names, beside those that newer servers have.
// `npm run test:postgres-17` runs the other tests on a server that has only these.

let sql: postgres.Sql
const database = withResource(() => createTestDatabase({ empty: true }))

beforeAll(async () => {
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
  await sql.unsafe(additionsFor(170_010))
  // Every start adds them again.
  await sql.unsafe(additionsFor(170_010))
})

afterAll(async () => {
  await sql.unsafe(REMOVE_ADDITIONS)
  const left =
    await sql`select to_regproc('public.uuidv7') as function, to_regcollation('public.pg_unicode_fast') as collation`
  expect(left).toEqual([{ function: null, collation: null }])
  await sql.end()
})

it("PostgreSQL 18 gets nothing added", () => {
  expect(additionsFor(180_000)).toBe("")
})

describe("uuidv7() of PostgreSQL 17", () => {
  it("increases with each row of a statement, and after a transaction that was taken back", async () => {
    const many = () => sql`select public.uuidv7() as id from generate_series(1, 5000)`
    const ids = (await many()).map(({ id }) => id as string)
    await sql
      .begin(async (tx) => {
        await tx`select public.uuidv7() from generate_series(1, 100)`
        throw new Error("take back")
      })
      .catch(() => {})
    ids.push(...(await many()).map(({ id }) => id as string))
    expect(ids).toEqual([...new Set(ids)].toSorted())
  })

  it("has the version, the variant and the time that the standard wants", async () => {
    const [row] = await sql<[{ id: string; now: number }]>`
      select public.uuidv7() as id, extract(epoch from clock_timestamp())::float8 * 1000 as now`
    expect(row.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    const time = Number.parseInt(row.id.replaceAll("-", "").slice(0, 12), 16)
    expect(Math.abs(row.now - time)).toBeLessThan(1000)
  })
})

it("the collation lowers letters of any alphabet, as search needs it", async () => {
  const [row] = await sql`select lower('ÄΣ ЖÉ' collate public.pg_unicode_fast) as text`
  expect(row?.["text"]).toBe("äσ жé")
})
