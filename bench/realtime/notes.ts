import * as v from "valibot"
import { defineLiveQuery, type TableDescription } from "../../live/server/live-query.ts"

const ROOM = "room-"

/**
 * Every socket follows a room of its own (`room-0`, `room-1` and so on). Some measurements also use
 * this shared one.
 */
export const SHARED_ROOM = "everybody"

const MOST_SOCKETS = 5000

/** How many of the sockets' people are members of so many rooms. */
export const MEMBERS = 1000
export const SPACES = 50

export function roomOf(socket: number): string {
  return `${ROOM}${socket}`
}

/**
 * The table that all candidates watch. `_id` contains the number of the write, which matches a
 * receipt to its commit.
 */
export const SCHEMA = `
  create table notes (
    _id text primary key, room text not null, author text not null, body text not null, pinned boolean not null default false,
    _creation_time bigint not null
  );
  create unique index notes_range on notes (room, _id);
  alter table notes replica identity using index notes_range;

  -- Who may read the shared room, one row for each of the sockets' people.
  create table members (_id text primary key, room text not null, person text not null);
  create unique index members_range on members (person, room, _id);
  alter table members replica identity using index members_range;
  insert into members select n, '${SHARED_ROOM}', 'user-' || n from generate_series(0, ${MOST_SOCKETS - 1}) n;
  -- The first of them are members of others, too.
  insert into members select n || '-' || space, 'space-' || space, 'user-' || n
    from generate_series(0, ${MEMBERS - 1}) n, generate_series(2, ${SPACES}) space;

  -- Every step-th of the notes, each a transaction of its own when it is due, whatever became of those before. Answers when each was
  -- committed, in ms since 1970.
  create procedure write_notes(
    first int, count int, at_step int, step int, per_second float8, sockets int, inout committed float8[]
  ) language plpgsql as $$
  declare
    begun timestamptz := clock_timestamp();
    early float8;
    note int;
  begin
    for note in at_step .. count - 1 by step loop
      early := note / per_second - extract(epoch from clock_timestamp() - begun);
      if early > 0 then
        perform pg_sleep(early);
      end if;
      insert into notes (_id, room, author, body, _creation_time) values (
        (first + note)::text,
        case when sockets = 0 then '${SHARED_ROOM}' else '${ROOM}' || floor(random() * sockets) end,
        'ada',
        'The tide comes in twice a day, and every boat in the harbour rises with it, whatever it carries.',
        extract(epoch from clock_timestamp()) * 1000
      );
      commit;
      committed := array_append(committed, extract(epoch from clock_timestamp()) * 1000);
    end loop;
  end
  $$;
`

/** How candidates other than Tideline read a list of notes. */
export const SELECT_NOTES = `select _id, room, author, body, pinned, _creation_time as "_creationTime" from notes`

export interface NoteRow {
  _id: string
  room: string
  author: string
  body: string
  pinned: boolean
  _creationTime: number
}

export const notes: TableDescription<NoteRow> = {
  schema: "public",
  name: "notes",
  identity: ["room"],
  columns: {
    _id: { name: "_id", decode: String },
    room: { name: "room", decode: String },
    author: { name: "author", decode: String },
    body: { name: "body", decode: String },
    pinned: { name: "pinned", decode: (text) => text === "t" },
    _creationTime: { name: "_creation_time", decode: Number },
  },
}

export const members: TableDescription<{ _id: string; room: string; person: string }> = {
  schema: "public",
  name: "members",
  identity: ["room", "person"],
  columns: {
    _id: { name: "_id", decode: String },
    room: { name: "room", decode: String },
    person: { name: "person", decode: String },
  },
}

export interface Viewer {
  id: string
}

const OfRoom = v.strictObject({ room: v.pipe(v.string(), v.maxLength(100)) })

export const inRoom = defineLiveQuery({
  name: "notes.inRoom",
  description: "All notes of a room.",
  args: OfRoom,
  table: notes,
  range: ({ room }, _viewer: Viewer) => ({ eq: { room } }),
})

/** The same for members alone: each subscription ends with its own person's row, as in a space. */
export const inSpace = defineLiveQuery({
  name: "notes.inSpace",
  description: "All notes of a room that the caller is a member of.",
  args: OfRoom,
  table: notes,
  range: ({ room }, _viewer: Viewer) => ({ eq: { room } }),
  authorize: async ({ id }, { room }, sql) => {
    const found = await sql`select 1 from members where person = ${id} and room = ${room}`
    return found.length > 0
  },
  dependencies: ({ room }, { id }) => [{ table: members, eq: { person: id, room }, on: "leave" }],
})

/** The rooms that the caller is a member of, as the list of their spaces. */
export const ofMember = defineLiveQuery({
  name: "notes.ofMember",
  description: "The caller's memberships.",
  args: v.strictObject({}),
  table: members,
  range: (_args, { id }: Viewer) => ({ eq: { person: id } }),
})
