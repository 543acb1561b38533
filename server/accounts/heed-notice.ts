import { eq } from "drizzle-orm"
import { users } from "#db/schema/users.ts"
import type { IdentityNotice } from "../ports/identity.ts"
import type { FullScope } from "../scope.ts"
import { writeUser } from "../users/users.ts"
import { deleteAccount } from "./delete-account.ts"

type Heeding = Pick<FullScope, "announce" | "blobs" | "config" | "db" | "identity" | "live" | "log" | "turns">

/**
 * Does what the identity provider's notice means for the records. It may come twice, late and out of order, so nothing in it counts but
 * whom it is about: the provider is asked what is true now. Data is deleted only where it says both that somebody is gone and that it does not
 * know them. A person without a record has none made here; their first visit does.
 */
export async function heedNotice(scope: Heeding, { kind, userId }: IdentityNotice): Promise<void> {
  const [user] = await scope.db.select().from(users).where(eq(users.clerkId, userId))
  if (!user) return
  const person = await scope.identity.getUser(userId, { fresh: true })
  if (!person) return kind === "deleted" ? deleteAccount(scope, user) : undefined
  const { email, name, imageUrl, plan } = person
  await writeUser(scope, { clerkId: userId, email: email ?? "", name, imageUrl, plan })
}
