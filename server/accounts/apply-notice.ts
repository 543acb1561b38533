import { eq } from "drizzle-orm"
import { users } from "#db/schema/users.ts"
import type { IdentityNotice } from "#server/ports/identity.ts"
import type { FullScope } from "#server/scope.ts"
import { updateUser } from "#server/users/users.ts"
import { deleteAccount } from "./delete-account.ts"

type NoticeScope = Pick<
  FullScope,
  "announce" | "blobs" | "config" | "db" | "identity" | "live" | "log" | "turns"
>

/**
 * Applies a notice of the identity provider to the records. Notices may arrive twice, late and out
 * of order, so only the user's id is used, and the provider is asked for the current state. Data is
 * deleted only if the notice says that the user is gone and the provider does not know them. A user
 * without a record gets none here; their first visit creates it.
 */
export async function applyNotice(scope: NoticeScope, { kind, userId }: IdentityNotice): Promise<void> {
  const [user] = await scope.db.select().from(users).where(eq(users.clerkId, userId))
  if (!user) return
  const person = await scope.identity.getUser(userId, { fresh: true })
  if (!person) return kind === "deleted" ? deleteAccount(scope, user) : undefined
  const { email, name, imageUrl, plan } = person
  await updateUser(scope, { clerkId: userId, email: email ?? "", name, imageUrl, plan })
}
