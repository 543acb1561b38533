import { eq } from "drizzle-orm"
import { users } from "#db/schema/users.ts"
import type { Viewer } from "#server/scope.ts"

/** The caller's own record: nobody sees or changes another person's. */
export const ownRecord = (viewer: Pick<Viewer, "session">) => eq(users.clerkId, viewer.session.userId)
