import { and, eq, lt, or, sql, type SQL } from "drizzle-orm"
import type { PgColumn } from "drizzle-orm/pg-core"
import { authSecurityEvent } from "#db/schema/security.ts"
import type { User } from "#db/schema/users.ts"
import type { Scope } from "#server/scope.ts"

/**
 * An email address of a person, and when it stopped being theirs, in milliseconds since the epoch.
 */
export interface Address {
  email: string
  until: number | null
}

/**
 * A person's address, unless they never confirmed it, and their earlier ones, as far as the security
 * log goes back. An earlier address may belong to somebody else by now.
 */
export async function findAddresses(
  { db, identity }: Scope<"db" | "identity">,
  { clerkId, email }: Pick<User, "clerkId" | "email">,
): Promise<Address[]> {
  const changes = await db
    .select({ facts: authSecurityEvent.facts, until: authSecurityEvent._creationTime })
    .from(authSecurityEvent)
    .where(and(eq(authSecurityEvent.userId, clerkId), eq(authSecurityEvent.event, "address-changed")))
  const former = changes.map(({ facts, until }) => ({ email: facts?.previous ?? "", until }))
  // Anybody can sign up with an address. The provider may have forgotten the person already.
  const person = await identity.getUser(clerkId, { fresh: true })
  const present = person?.emailVerified === false ? "" : email.toLowerCase()
  return [{ email: present, until: null }, ...former].filter((each) => each.email !== "")
}

/** Whether a row contains one of the addresses, and is from the time when it was the person's. */
export function namesOneOf(column: PgColumn, createdAt: PgColumn, addresses: readonly Address[]): SQL {
  const names = addresses.map(({ email, until }) =>
    and(eq(sql`lower(${column})`, email), until === null ? undefined : lt(createdAt, until)),
  )
  return or(...names) ?? sql`false`
}
