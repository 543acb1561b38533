import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { getTableConfig, pgTable, text, uuid, type PgTable } from "drizzle-orm/pg-core"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ownerships } from "#db/ownerships.ts"
import { chatThreads } from "#db/schema/chat.ts"
import { namingsOf } from "#db/schema/ownership.ts"
import { users } from "#db/schema/users.ts"
import { readRules } from "#db/rules.ts"
import { allTables, findPersonalTables, nameOf } from "../support/personal-tables.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

const db = resolve(import.meta.dirname, "../../db")

const database = withResource(createTestDatabase)
let sql: postgres.Sql
beforeAll(async () => {
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
})
afterAll(() => sql.end())

describe("whose the rows of a table are", () => {
  it("is declared by every table that leads to a person, and by no other", async () => {
    expect(undeclared(await allTables())).toEqual([])
    expect([...ownerships.keys()].map(nameOf).toSorted()).toEqual(findPersonalTables(await allTables()))
  })

  it("is asked of every module of the schema", () => {
    const imported = [
      ...readFileSync(join(db, "ownerships.ts"), "utf8").matchAll(/import ".\/schema\/(.+)"/g),
    ]
    const modules = readdirSync(join(db, "schema")).filter((name) =>
      /(pgTable|\.table)\(/.test(readFileSync(join(db, "schema", name), "utf8")),
    )
    expect(imported.map(([, name]) => name)).toEqual(modules)
  })

  it("is missed in a table that refers to people, names them, or belongs to something of theirs", async () => {
    const byReference = pgTable("planted_notes", { by: uuid("by").references(() => users._id) })
    const byEmail = pgTable("planted_invitations", { email: text("email") })
    const byProviderId = pgTable("planted_votes", { userId: text("user_id") })
    const ofTheirs = pgTable("planted_tags", { tagged: uuid("tagged").references(() => chatThreads._id) })
    const ofNobody = pgTable("planted_colours", { name: text("name") })
    const planted = [byReference, byEmail, byProviderId, ofTheirs]
    expect(undeclared([...(await allTables()), ...planted, ofNobody])).toEqual([
      "public.planted_invitations",
      "public.planted_notes",
      "public.planted_tags",
      "public.planted_votes",
    ])
  })
})

describe("at the end of an account, the database", () => {
  const references = [...ownerships].flatMap(([table, whose]) =>
    namingsOf(table, whose)
      .filter(({ id, isReference }) => id && isReference)
      .map(({ id }) => ({ table: nameOf(table), column: id?.name ?? "", end: whose.end })),
  )

  it.each(references)(
    "deletes the rows of $table, or takes the person out",
    async ({ table, column, end }) => {
      const forgets = typeof end === "object" && "forgets" in end
      expect(await onDelete(table, column)).toEqual(forgets ? ["set null"] : ["cascade"])
    },
  )

  it("keeps in their space the rows that are declared so, and no others", () => {
    const rule = readRules().find(({ name }) => name === "leave_spaces_of_person")
    const moved = rule?.statements.join("\n").matchAll(/UPDATE "(\w+)" SET "user_id" = "former"/g) ?? []
    const declared = [...ownerships].filter(([, { end }]) => end === "stays in its space")
    expect(declared.map(([table]) => getTableConfig(table).name).toSorted()).toEqual(
      [...moved].map(([, name = ""]) => name).toSorted(),
    )
  })

  it("leaves the records of the person themselves to `deleteAccount` and the identity provider", () => {
    const roots = [...ownerships].filter(([table, whose]) =>
      namingsOf(table, whose).some(({ id, isReference }) => id?.primary && !isReference),
    )
    expect(roots.map(([table]) => nameOf(table)).toSorted()).toEqual(["auth.user", "public.users"])
    for (const [, { end }] of roots) expect(end).toHaveProperty("by")
  })

  it("is the only one to delete what refers to a person: nothing keeps an account from being deleted", async () => {
    const blocking = await sql`
      select conrelid::regclass::text as table, conname as name from pg_constraint
      where contype = 'f' and confdeltype in ('a', 'r')
        and confrelid in ('users'::regclass, 'auth.user'::regclass, 'spaces'::regclass)`
    expect([...blocking]).toEqual([])
  })
})

function undeclared(tables: readonly PgTable[]): string[] {
  const declared = new Set([...ownerships.keys()].map(nameOf))
  return findPersonalTables(tables).filter((name) => !declared.has(name))
}

const ON_DELETE = { a: "no action", r: "restrict", c: "cascade", n: "set null", d: "set default" } as const

/** What becomes of rows when the row is deleted to which they refer by the column, alone or with others. */
async function onDelete(table: string, column: string) {
  const [schema = "", name = ""] = table.split(".")
  const found = await sql<{ on: keyof typeof ON_DELETE }[]>`
    select confdeltype as on from pg_constraint
    join pg_attribute on attrelid = conrelid and attnum = any(conkey)
    where contype = 'f' and attname = ${column}
      and conrelid = (${`"${schema}"."${name}"`})::text::regclass`
  return found.map(({ on }) => ON_DELETE[on])
}
