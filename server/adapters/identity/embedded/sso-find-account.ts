import { randomUUID } from "node:crypto"
import { and, eq } from "drizzle-orm"
import * as v from "valibot"
import type { Database, Transaction } from "#db/client.ts"
import { authAccount, authUser } from "#db/schema/auth.ts"
import type { Sender } from "#server/accounts/security-contract.ts"
import type { SsoProblem, SsoProvider } from "#server/ports/single-sign-on.ts"
import { endEarlierHolder } from "./earlier-holder.ts"
import type { RecordEvent } from "./auth-settings.ts"

/** The claims of an ID token, or of the provider's user info. */
export const Claims = v.object({
  sub: v.pipe(v.string(), v.nonEmpty(), v.maxLength(255)),
  sid: v.optional(v.pipe(v.string(), v.maxLength(1000))),
  email: v.optional(v.pipe(v.string(), v.trim(), v.toLowerCase(), v.email(), v.maxLength(254))),
  email_verified: v.optional(v.unknown()),
  name: v.optional(v.unknown()),
})
export type Claims = v.InferOutput<typeof Claims>

type Found = { userId: string } | { problem: SsoProblem }

/**
 * The account of a person who signed in at the provider: the linked one, else the one with their
 * email address, else a new one. The address is only used if the provider says that it is verified,
 * and if it belongs to the provider's domains.
 */
export function findAccount(
  { db, record }: { db: Database; record: RecordEvent },
  { issuer, domains }: Pick<SsoProvider, "issuer" | "domains">,
  claims: Claims,
  { isOpen, from }: { isOpen: boolean; from: Sender },
): Promise<Found> {
  return db.transaction(async (transaction): Promise<Found> => {
    const providerId = providerIdOf(issuer)
    const [linked] = await transaction
      .select({ userId: authAccount.userId })
      .from(authAccount)
      .where(and(eq(authAccount.providerId, providerId), eq(authAccount.accountId, claims.sub)))
    if (linked) return linked

    const { email } = claims
    if (email === undefined || claims.email_verified !== true) return { problem: "address-unverified" }
    if (domains && !domains.includes(email.slice(email.lastIndexOf("@") + 1)))
      return { problem: "domain-refused" }
    const known = await takeOver(transaction, email)
    const userId = known ?? (isOpen ? await create(transaction, claims, email) : null)
    if (userId === null) return { problem: "signup-closed" }
    const event = known === null ? "account-created" : "provider-linked"
    await record({ userId, event, facts: { issuer }, from }, transaction)
    await transaction
      .insert(authAccount)
      .values({ id: randomUUID(), userId, providerId, accountId: claims.sub })
      .onConflictDoNothing()
    return { userId }
  })
}

/** better-auth's name for a way to sign in. */
export function providerIdOf(issuer: string): string {
  return `oidc:${issuer}`
}

/** The issuer that `providerIdOf` was given. */
export function issuerOf(providerId: string): string {
  return providerId.replace(/^oidc:/, "")
}

/**
 * The account with this address; null if there is none. If the address was never confirmed,
 * somebody else may have signed up with it, so all earlier sessions, keys, passwords and factors end.
 */
async function takeOver(transaction: Transaction, email: string): Promise<string | null> {
  const [user] = await transaction.select().from(authUser).where(eq(authUser.email, email)).for("update")
  if (!user) return null
  const { id, emailVerified } = user
  if (emailVerified) return id
  await endEarlierHolder(transaction, id)
  await transaction
    .update(authUser)
    .set({ emailVerified: true, holderConfirmed: false, updatedAt: new Date() })
    .where(eq(authUser.id, id))
  return id
}

/** Of two concurrent sign-ins, one creates the account. */
async function create(transaction: Transaction, { name }: Claims, email: string): Promise<string> {
  const text =
    typeof name === "string"
      ? name
          .replaceAll(/\p{Cc}+/gu, " ")
          .trim()
          .slice(0, 100)
      : ""
  const [made] = await transaction
    .insert(authUser)
    .values({ id: randomUUID(), email, emailVerified: true, name: text })
    .onConflictDoUpdate({ target: authUser.email, set: { email } })
    .returning({ id: authUser.id })
  if (!made) throw new Error("The new account did not come back from the database.")
  return made.id
}
