import * as v from "valibot"
import { openPostgres } from "#live/check"
import type { SqlScope, TableDescription } from "#live/open"
import { defineLiveQuery, defineMutation, openRealtime, transactOn } from "#live/open"

const { DATABASE_URL: databaseUrl = "", ORIGIN = "" } = process.env
const sql = openPostgres(databaseUrl, { onnotice() {} })
await sql.unsafe(`
  create table if not exists notes (_id text primary key, list text not null, body text not null);
  create unique index if not exists notes_by_list on notes (list, _id);
  alter table notes replica identity using index notes_by_list`)

const column = (name: string) => ({ name, decode: String })
const columns = { _id: column("_id"), list: column("list"), body: column("body") }
type Note = Record<keyof typeof columns, string>
const notes: TableDescription<Note> = { schema: "public", name: "notes", identity: ["list"], columns }

const listNotes = defineLiveQuery({
  name: "notes.list",
  description: "The notes of a list.",
  args: v.strictObject({ list: v.string() }),
  table: notes,
  range: ({ list }) => ({ eq: { list } }),
})

const addNote = defineMutation({
  name: "notes.add",
  description: "Adds a note to a list.",
  args: v.strictObject({ id: v.string(), list: v.string(), body: v.string() }),
  async run({ query }: SqlScope<string>, { id, list, body }) {
    await query("insert into notes values ($1, $2, $3)", [id, list, body])
  },
})

export const realtime = await openRealtime({
  databaseUrl,
  tables: [notes],
  queries: [listNotes],
  mutations: [addNote],
  transact: transactOn(sql),
  verify: async (token) => ({ viewer: token, expiresAt: Date.now() + 60_000 }),
  userIdOf: (viewer: string) => viewer,
  origins: [ORIGIN],
  secret: "seals what clients send back",
  log: console,
})
