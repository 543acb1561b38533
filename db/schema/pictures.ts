import { text, uuid } from "drizzle-orm/pg-core"
import { auth, authUser } from "./auth.ts"
import { owned } from "./ownership.ts"
import { byteString } from "./record.ts"

/**
 * Avatars of the embedded identity provider's users. In a separate table, because better-auth does
 * not know this one.
 */
export const authPicture = auth.table("picture", {
  userId: text("user_id")
    .primaryKey()
    .references(() => authUser.id, { onDelete: "cascade" }),
  /** Part of its URL: another picture has another id. */
  id: uuid("id").notNull(),
  /** WebP, square. */
  bytes: byteString("bytes").notNull(),
})

owned(authPicture, { of: "userId", exportedIn: "picture.webp" })
