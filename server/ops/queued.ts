import { count, eq, isNull } from "drizzle-orm"
import { chatTurns } from "#db/schema/chat.ts"
import { uploads } from "#db/schema/files.ts"
import type { Scope } from "../scope.ts"

/** What is under way in the database, whichever process has it in hand. */
export async function countQueued({ db }: Scope<"db">) {
  const [[turns], [running]] = await Promise.all([
    db.select({ count: count() }).from(chatTurns).where(eq(chatTurns.status, "running")),
    // Those that are finished are only remembered.
    db.select({ count: count() }).from(uploads).where(isNull(uploads.fileId)),
  ])
  return { turns: turns?.count ?? 0, uploads: running?.count ?? 0 }
}
