import { APIError } from "better-auth/api"
import { and, desc, eq, gt, ne } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authAccount, authApiKey, authSession } from "#db/schema/auth.ts"
import type { Log } from "#server/log.ts"
import type { AccountOutcome } from "#server/ports/account-forms.ts"
import type { AccountKey, OwnAccount } from "#server/ports/own-account.ts"
import type { Visit } from "#server/ports/session.ts"
import { networkOf } from "#server/transport/client-address.ts"
import { openAddressChange, type AddressHooks } from "./address-change.ts"
import { countAttempt, forgetAttempts } from "./attempts.ts"
import type { Auth } from "./auth.ts"
import { findPassword } from "./find-account.ts"
import type { Send } from "./forms.ts"
import { permissionsOf, readScopes } from "./key-session.ts"
import { openSecondFactor } from "./own-factor.ts"
import { openOwnPasskeys } from "./own-passkeys.ts"
import { verifyPassword } from "./password.ts"
import type { RecordEvent } from "./auth-settings.ts"
import { senderOfVisit } from "./sender.ts"
import { issuerOf } from "./sso-find-account.ts"

interface OwnAccountSettings {
  db: Database
  auth: Auth
  log: Log
  origin: string
  hooks: AddressHooks
  record: RecordEvent
  /**
   * Uses the provider's own HTTP handler: its checks and limits apply, and it renews the cookie.
   */
  post(visit: Visit, path: string, body: object): Promise<AccountOutcome>
  send: Send
}

export function openOwnAccount(settings: OwnAccountSettings): OwnAccount {
  const { db, auth, log, post, record } = settings
  return {
    ...openSecondFactor(settings),
    ...openAddressChange(settings, { hasPassword, checkPassword }),
    ...openOwnPasskeys(settings),

    async listSessions(userId) {
      const sessions = await db
        .select()
        .from(authSession)
        .where(and(eq(authSession.userId, userId), gt(authSession.expiresAt, new Date())))
        .orderBy(desc(authSession.createdAt))
      return sessions.map(({ id, userAgent, ipAddress, createdAt }) => ({
        id,
        userAgent,
        address: ipAddress || null,
        createdAt: createdAt.getTime(),
      }))
    },

    endSession: (visit, userId, id) =>
      db.transaction(async (transaction) => {
        const ended = await transaction
          .delete(authSession)
          .where(and(eq(authSession.userId, userId), eq(authSession.id, id)))
          .returning({ id: authSession.id })
        if (ended.length === 0) return false
        await record({ userId, event: "session-ended", from: senderOfVisit(visit) }, transaction)
        return true
      }),

    endOtherSessions: (visit, userId, keep) =>
      db.transaction(async (transaction) => {
        await transaction
          .delete(authSession)
          .where(and(eq(authSession.userId, userId), ne(authSession.id, keep)))
        await record({ userId, event: "sessions-ended", from: senderOfVisit(visit) }, transaction)
      }),

    async endSessions(transaction, userId) {
      await transaction.delete(authSession).where(eq(authSession.userId, userId))
    },

    async changePassword(visit, { current, next }) {
      const body = { currentPassword: current, newPassword: next, revokeOtherSessions: true }
      const outcome = await post(visit, "/change-password", body)
      return !outcome.ok && outcome.problem === "wrong-credentials" ? { ...outcome, status: 403 } : outcome
    },

    checkPassword,

    hasPassword,

    async listProviders(userId) {
      const accounts = await db
        .select({ providerId: authAccount.providerId, subject: authAccount.accountId })
        .from(authAccount)
        .where(and(eq(authAccount.userId, userId), ne(authAccount.providerId, "credential")))
      return accounts.map(({ providerId, subject }) => ({ issuer: issuerOf(providerId), subject }))
    },

    async listKeys(userId) {
      const keys = await db
        .select()
        .from(authApiKey)
        .where(eq(authApiKey.referenceId, userId))
        .orderBy(desc(authApiKey.createdAt))
      return keys.map(describeKey)
    },

    async createKey(visit, userId, { name, scopes, days }) {
      const life = days === null ? {} : { expiresIn: days * 86_400 }
      const body = { name, userId, ...permissionsOf(scopes), ...life }
      const made = await auth.api.createApiKey({ body }).catch(unlessTooMany)
      if (!made) return null
      const { key, id } = made
      const [row] = await db.select().from(authApiKey).where(eq(authApiKey.id, id))
      if (!row) throw new Error("The new key did not come back from the database.")
      const facts = { name, start: row.start ?? "" }
      await record({ userId, event: "key-created", facts, from: senderOfVisit(visit) })
      log.info({ event: "key made", user: userId, from: networkOf(visit.address), refused: null }, "account")
      return { ...describeKey(row), key }
    },

    deleteKey: (visit, userId, id) =>
      db.transaction(async (transaction) => {
        const [deleted] = await transaction
          .delete(authApiKey)
          .where(and(eq(authApiKey.referenceId, userId), eq(authApiKey.id, id)))
          .returning({ name: authApiKey.name, start: authApiKey.start })
        if (!deleted) return false
        const facts = { name: deleted.name ?? "", start: deleted.start ?? "" }
        await record({ userId, event: "key-deleted", facts, from: senderOfVisit(visit) }, transaction)
        log.info(
          { event: "key deleted", user: userId, from: networkOf(visit.address), refused: null },
          "account",
        )
        return true
      }),
  }

  async function hasPassword(userId: string) {
    return (await findPassword(db, userId)) !== undefined
  }

  /**
   * Counted, so that anyone who finds an open browser cannot guess more here than at the sign-in.
   * Counted separately, because guesses there must not keep the owner from changing the password.
   */
  async function checkPassword(
    userId: string,
    password: string,
  ): Promise<(AccountOutcome & { ok: false }) | null> {
    const account = await findPassword(db, userId)
    const wait = account && (await countAttempt(db, "password", userId, null))
    if (wait) return { ok: false, problem: "too-many-attempts", status: 429, retryAfter: wait }
    const isRight = account?.hash && (await verifyPassword({ hash: account.hash, password }))
    if (!isRight) return { ok: false, problem: "wrong-credentials", status: 403, retryAfter: null }
    await forgetAttempts(db, "password", userId, null)
    return null
  }
}

function unlessTooMany(error: unknown): null {
  if (error instanceof APIError && error.body?.code === "TOO_MANY_KEYS") return null
  throw error
}

function describeKey(key: typeof authApiKey.$inferSelect): AccountKey {
  return {
    id: key.id,
    name: key.name ?? "",
    start: key.start ?? "",
    createdAt: key.createdAt.getTime(),
    usedAt: key.lastRequest?.getTime() ?? null,
    usedFrom: key.lastAddress,
    expiresAt: key.expiresAt?.getTime() ?? null,
    scopes: readScopes(key.permissions),
  }
}
