import { text, uuid } from "drizzle-orm/pg-core"
import { auth, authUser } from "./auth.ts"
import { byteString } from "./record.ts"

/**
 * What people of the embedded identity provider look like. Beside its own tables: better-auth does
 * not know this one.
 */
export const authPicture = auth.table("picture", {
  userId: text("user_id")
    .primaryKey()
    .references(() => authUser.id, { onDelete: "cascade" }),
  /** In its address: another picture has another one. */
  id: uuid("id").notNull(),
  /** WebP, square. */
  bytes: byteString("bytes").notNull(),
})
