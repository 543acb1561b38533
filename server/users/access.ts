import { and, eq, sql, type SQL } from "drizzle-orm"
import type { PgColumn } from "drizzle-orm/pg-core"
import * as v from "valibot"
import { users } from "#db/schema/users.ts"
import type { Scope, Viewer } from "#server/scope.ts"

/** The caller's own record: nobody sees or changes another person's. */
export const ownRecord = (viewer: Pick<Viewer, "session">) => eq(users.clerkId, viewer.session.userId)

/** Which row of a table is the caller's with an id. What is no id finds nothing. */
export function ownIn({ _id, userId }: Record<"_id" | "userId", PgColumn>) {
  return ({ viewer }: Scope<"viewer">, id: string): SQL | undefined =>
    v.is(Id, id) ? and(eq(_id, id), eq(userId, viewer.user._id)) : sql`false`
}

const Id = v.pipe(v.string(), v.uuid())
