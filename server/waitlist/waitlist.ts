import { and, asc, desc, eq, gt, isNull, lt, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { waitlist, type WaitlistRow } from "#db/schema/waitlist.ts"
import type { Language } from "#server/language-contract.ts"
import { databaseNow } from "#server/mail/outbox.ts"
import { emailLater } from "#server/mail/mail.ts"
import { eachRow } from "#server/each-row.ts"
import type { Scope } from "#server/scope.ts"
import type { JoinWaitlist } from "./contract.ts"
import { confirmationLink, invitationLink, LINK_LIFE, readToken, type LinkSettings } from "./links.ts"

/** Emails to one address with working links, no matter who entered it. */
const MOST_OPEN = 3

type Waitlist = Scope<"db"> & { config: LinkSettings }

/**
 * Stores an address once, ignoring case, and emails it until it is confirmed, while it has fewer
 * than three working links. Does not reveal whether it was there before. `language` is the
 * visitor's.
 */
export async function joinWaitlist(
  scope: Waitlist,
  { email }: JoinWaitlist,
  language: Language,
): Promise<void> {
  await scope.db.transaction(async (db) => {
    await db.insert(waitlist).values({ email, language }).onConflictDoNothing()
    const place = await findPlace(db, email)
    if (!place) return
    // To the address as first entered: anyone who enters it again does not choose another spelling.
    const message = {
      email: place.email,
      language,
      url: confirmationLink(scope.config, place._id),
      days: LINK_LIFE.confirmation,
      // The same work for a confirmed address, so that the time reveals nothing.
      mostOpen: place.confirmedAt === null ? MOST_OPEN : 0,
    }
    await emailLater({ db, config: scope.config }, "waitlist-confirmation", message)
  })
}

/** Whether the token of a confirmation link is one of ours and still valid. */
export function isConfirmation({ config }: Pick<Waitlist, "config">, token: string): boolean {
  return readToken(config, "confirmation", token) !== null
}

/**
 * Resolves to false for a token that is not ours or has expired. A confirmed address stays
 * confirmed. `language` is that of the person who reads the mail, which anybody may have requested.
 */
export async function confirmPlace(
  { db, config }: Waitlist,
  token: string,
  language: Language,
): Promise<boolean> {
  const id = readToken(config, "confirmation", token)
  if (id === null) return false
  await db
    .update(waitlist)
    .set({ confirmedAt: databaseNow, language })
    .where(and(eq(waitlist._id, id), isNull(waitlist.confirmedAt)))
  return true
}

/** Everyone, in the order in which they joined. */
export function eachPlace({ db }: Scope<"db">): AsyncGenerator<WaitlistRow> {
  return eachRow((after, most) =>
    db
      .select()
      .from(waitlist)
      .where(after === undefined ? undefined : gt(waitlist._id, after))
      .orderBy(asc(waitlist._id))
      .limit(most),
  )
}

/** Newest first. `before` is the `_id` of the last one seen. */
export function listLatestPlaces(
  { db }: Scope<"db">,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<WaitlistRow[]> {
  return db
    .select()
    .from(waitlist)
    .where(before === undefined ? undefined : lt(waitlist._id, before))
    .orderBy(desc(waitlist._id))
    .limit(limit)
}

/**
 * Adds an address to the list if it is missing, and queues an invitation. Resolves to the link in
 * it; null if theirs has been used.
 */
export async function inviteFromWaitlist(scope: Waitlist, email: string): Promise<string | null> {
  return scope.db.transaction(async (db) => {
    await db.insert(waitlist).values({ email }).onConflictDoNothing()
    const place = await findPlace(db, email)
    if (!place || place.joinedAt !== null) return null
    await db.update(waitlist).set({ invitedAt: databaseNow }).where(eq(waitlist._id, place._id))
    const url = invitationLink(scope.config, place._id)
    const message = { email: place.email, language: place.language, url, days: LINK_LIFE.invitation }
    await emailLater({ db, config: scope.config }, "waitlist-invitation", message)
    return url
  })
}

/** The address that an invitation admits; null if it is not ours, expired or used. */
export async function findInvitation(
  { db, config }: Waitlist,
  token: string,
): Promise<{ email: string } | null> {
  const id = readToken(config, "invitation", token)
  if (id === null) return null
  const [place] = await db
    .select({ email: waitlist.email })
    .from(waitlist)
    .where(and(eq(waitlist._id, id), isNull(waitlist.joinedAt)))
  return place ?? null
}

/**
 * Redeems an invitation for the address it was sent to. Resolves to false for another address, or
 * if it was used. Call it in the transaction that creates the account.
 */
export async function redeemInvitation(
  { db, config }: Waitlist,
  token: string,
  email: string,
): Promise<boolean> {
  const id = readToken(config, "invitation", token)
  if (id === null) return false
  const used = await db
    .update(waitlist)
    .set({ joinedAt: databaseNow, confirmedAt: sql`coalesce(${waitlist.confirmedAt}, ${databaseNow})` })
    .where(and(eq(waitlist._id, id), isAddress(email), isNull(waitlist.joinedAt)))
    .returning({ _id: waitlist._id })
  return used.length > 0
}

async function findPlace(db: Database, email: string) {
  const [place] = await db.select().from(waitlist).where(isAddress(email))
  return place
}

function isAddress(email: string) {
  return eq(sql`lower(${waitlist.email})`, email.toLowerCase())
}
