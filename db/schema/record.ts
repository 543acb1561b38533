import { sql } from "drizzle-orm"
import { bigint, customType, uuid } from "drizzle-orm/pg-core"

/**
 * The two fields that the database adds to every record: `_id`, a version 7 UUID, and
 * `_creationTime`, milliseconds since the epoch. Ids sort in the order of their creation, so `_id`
 * also breaks ties between equal times.
 */
export const record = () => ({
  _id: uuid("_id")
    .primaryKey()
    .default(sql`uuidv7()`),
  _creationTime: milliseconds("_creation_time")
    .notNull()
    .default(sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`),
})

/** A moment, in milliseconds since the epoch. */
export const milliseconds = (name: string) => bigint(name, { mode: "number" })

export function byteString(name: string) {
  return customType<{ data: Uint8Array }>({ dataType: () => "bytea" })(name)
}
