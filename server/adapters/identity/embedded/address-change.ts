import { randomBytes } from "node:crypto"
import { and, eq, gt, isNull, like, or } from "drizzle-orm"
import type { Database, Transaction } from "#db/client.ts"
import { authUser, authVerification } from "#db/schema/auth.ts"
import { authAddressChange } from "#db/schema/security.ts"
import type { AccountOutcome } from "#server/ports/account-forms.ts"
import type { AddressChangeLink, AddressChangeOutcome, OwnAccount } from "#server/ports/own-account.ts"
import type { Session, Visit } from "#server/ports/session.ts"
import { countAttempt } from "./attempts.ts"
import type { Auth } from "./auth.ts"
import { forgetAddressChange } from "./earlier-holder.ts"
import { findFactor } from "./find-account.ts"
import { checkCode } from "./second-factor.ts"
import type { RecordEvent } from "./auth-settings.ts"
import { senderOfVisit } from "./sender.ts"
import { hashOf } from "./once.ts"

/** Hours for which the links work. */
const LINK_LIFE = 24

export interface AddressChangeEmail {
  userId: string
  /** The recipient. */
  email: string
  next: string
  /** Whether the recipient is the new address. */
  isNew: boolean
  /** Whether the previous address is confirmed, so that its owner has to agree. */
  isConfirmed: boolean
  url: string
  hours: number
}

/** What a change of address needs from the product, in the given transaction. */
export interface AddressHooks {
  queueAddressChange(db: Database, email: AddressChangeEmail): Promise<unknown>
  /** To the owner of an account whose address another account requested. */
  queueAddressChangeAttempted(db: Database, account: { userId: string; email: string }): Promise<unknown>
  /** Writes the new address to the person's record. */
  changeAddress(db: Database, change: { userId: string; email: string }): Promise<unknown>
}

interface Settings {
  db: Database
  auth: Auth
  origin: string
  hooks: AddressHooks
  record: RecordEvent
}

type Own = Pick<
  OwnAccount,
  | "requestAddressChange"
  | "findAddressChange"
  | "readAddressLink"
  | "confirmAddressChange"
  | "stopAddressChange"
>

type Checks = Pick<OwnAccount, "hasPassword" | "checkPassword">

/** Changes of the email address, which both addresses confirm (docs/decisions/0036). */
export function openAddressChange({ db, auth, origin, hooks, record }: Settings, checks: Checks): Own {
  const linkOf = (token: string) => `${origin}/sign-in/new-address?${new URLSearchParams({ token })}`

  /** Null if the person may request it. */
  async function refuse(
    userId: string,
    { next, password, code }: Parameters<Own["requestAddressChange"]>[2],
  ): Promise<(AccountOutcome & { ok: false }) | null> {
    const [user] = await db.select({ email: authUser.email }).from(authUser).where(eq(authUser.id, userId))
    if (!(await checks.hasPassword(userId))) return refusal("address-at-provider", 403)
    if (user?.email === next) return refusal("address-unchanged", 400)
    const wrongPassword = await checks.checkPassword(userId, password)
    if (wrongPassword) return wrongPassword
    const factor = await findFactor(db, userId)
    if (factor?.verified) {
      const { secretConfig } = await auth.$context
      const refused = await checkCode(db, secretConfig, factor, code)
      if (refused) return refused
    }
    const wait = await countAttempt(db, "address-change", userId, null)
    return wait === null ? null : { ...refusal("too-many-attempts", 429), retryAfter: wait }
  }

  return {
    async requestAddressChange(visit, userId, asked) {
      const refused = await refuse(userId, asked)
      if (refused) return refused
      const { next } = asked
      const [previousToken, nextToken] = [newToken(), newToken()]
      await db.transaction(async (transaction) => {
        const user = await lockUser(transaction, userId)
        if (!user) return
        const change = {
          previousEmail: user.email,
          nextEmail: next,
          previousToken: hashOf(previousToken),
          nextToken: hashOf(nextToken),
          previousConfirmed: false,
          nextConfirmed: false,
          byHolder: false,
          expiresAt: Date.now() + LINK_LIFE * 3_600_000,
        }
        await transaction
          .insert(authAddressChange)
          .values({ userId, ...change })
          .onConflictDoUpdate({ target: authAddressChange.userId, set: change })
        const email = { userId, next, isConfirmed: user.emailVerified, hours: LINK_LIFE }
        const [holder] = await transaction
          .select({ userId: authUser.id, email: authUser.email })
          .from(authUser)
          .where(eq(authUser.email, next))
        // The person who requested it sees the same in both cases.
        if (holder) await hooks.queueAddressChangeAttempted(transaction, holder)
        else
          await hooks.queueAddressChange(transaction, {
            ...email,
            email: next,
            isNew: true,
            url: linkOf(nextToken),
          })
        const url = linkOf(previousToken)
        await hooks.queueAddressChange(transaction, { ...email, email: user.email, isNew: false, url })
        const event = "address-change-requested"
        await record({ userId, event, facts: { next }, from: senderOfVisit(visit) }, transaction)
      })
      return { ok: true, headers: new Headers() }
    },

    async findAddressChange(userId) {
      const [found] = await db
        .select({ change: authAddressChange, email: authUser.email, isConfirmed: authUser.emailVerified })
        .from(authAddressChange)
        .innerJoin(authUser, eq(authUser.id, authAddressChange.userId))
        .where(and(eq(authAddressChange.userId, userId), isGood()))
      if (!found) return null
      const { nextEmail, previousConfirmed, nextConfirmed } = found.change
      return {
        next: nextEmail,
        waitsForPrevious: found.isConfirmed && !previousConfirmed,
        waitsForNext: !nextConfirmed,
      }
    },

    async readAddressLink(token) {
      const found = await findByToken(db, token)
      return found ? describeLink(found, token) : null
    },

    confirmAddressChange: (visit, session, token) =>
      db.transaction(async (transaction): Promise<AddressChangeOutcome> => {
        const found = await findByToken(transaction, token, "lock")
        const link = found && describeLink(found, token)
        if (!found || !link?.canConfirm) return "expired"
        const { userId } = found.change
        const confirmed = link.isNew
          ? { nextConfirmed: true, byHolder: holds(session, userId) }
          : { previousConfirmed: true }
        await transaction.update(authAddressChange).set(confirmed).where(eq(authAddressChange.userId, userId))
        const change = { ...found.change, ...confirmed }
        if (!change.nextConfirmed || (found.isConfirmed && !change.previousConfirmed)) return "waiting"
        return apply(transaction, change, visit)
      }),

    async stopAddressChange(visit, by) {
      return db.transaction(async (transaction) => {
        const found =
          "token" in by
            ? await findByToken(transaction, by.token, "lock")
            : { change: { userId: by.userId, nextEmail: "" } }
        if (!found) return false
        const [stopped] = await transaction
          .delete(authAddressChange)
          .where(eq(authAddressChange.userId, found.change.userId))
          .returning()
        if (!stopped) return false
        const { userId, nextEmail: next } = stopped
        const event = "address-change-stopped"
        await record({ userId, event, facts: { next }, from: senderOfVisit(visit) }, transaction)
        return true
      })
    },
  }

  async function apply(
    transaction: Transaction,
    { userId, previousEmail: previous, nextEmail: next, byHolder }: Change,
    visit: Visit,
  ): Promise<AddressChangeOutcome> {
    await forgetAddressChange(transaction, userId)
    const [taken] = await transaction
      .select({ id: authUser.id })
      .from(authUser)
      .where(eq(authUser.email, next))
    if (taken) return "expired"
    await transaction
      .update(authUser)
      .set({ email: next, emailVerified: true, holderConfirmed: byHolder, updatedAt: new Date() })
      .where(eq(authUser.id, userId))
    // They were sent to the previous address.
    await transaction
      .delete(authVerification)
      .where(and(eq(authVerification.value, userId), like(authVerification.identifier, "reset-password:%")))
    await hooks.changeAddress(transaction, { userId, email: next })
    const facts = { previous, next }
    await record({ userId, event: "address-changed", facts, from: senderOfVisit(visit) }, transaction)
    return "changed"
  }
}

type Change = typeof authAddressChange.$inferSelect
interface Found {
  change: Change
  /** Whether the previous address is confirmed. */
  isConfirmed: boolean
}

async function findByToken(
  db: Database | Transaction,
  token: string,
  lock?: "lock",
): Promise<Found | undefined> {
  const hash = hashOf(token)
  const isNamed = or(eq(authAddressChange.previousToken, hash), eq(authAddressChange.nextToken, hash))
  if (lock) {
    // Locks the person first, in the same order as requests and deletions.
    const [named] = await db
      .select({ userId: authAddressChange.userId })
      .from(authAddressChange)
      .where(isNamed)
    if (!named || !(await lockUser(db, named.userId))) return undefined
  }
  const [found] = await db
    .select({ change: authAddressChange, isConfirmed: authUser.emailVerified })
    .from(authAddressChange)
    .innerJoin(authUser, eq(authUser.id, authAddressChange.userId))
    .where(and(isNamed, isGood()))
  return found
}

/**
 * Not expired, for an address that is still the account's, and of a person who is not suspended.
 */
function isGood() {
  return and(
    gt(authAddressChange.expiresAt, Date.now()),
    eq(authAddressChange.previousEmail, authUser.email),
    isNull(authUser.suspendedAt),
  )
}

function describeLink({ change, isConfirmed }: Found, token: string): AddressChangeLink {
  const isNew = change.nextToken === hashOf(token)
  const { previousEmail: previous, nextEmail: next, previousConfirmed, nextConfirmed } = change
  // An address that was never confirmed does not have to agree, or nobody could correct it.
  const canConfirm = isNew ? !nextConfirmed : isConfirmed && !previousConfirmed
  return { isNew, previous, next, canConfirm }
}

function holds(session: Session | null, userId: string): boolean {
  return session?.userId === userId && session.via === "cookie" && session.secondFactor !== "missing"
}

async function lockUser(db: Database | Transaction, userId: string) {
  const [user] = await db.select().from(authUser).where(eq(authUser.id, userId)).for("update")
  return user
}

function refusal(problem: (AccountOutcome & { ok: false })["problem"], status: number) {
  return { ok: false, problem, status, retryAfter: null } as const
}

function newToken(): string {
  return randomBytes(32).toString("base64url")
}
