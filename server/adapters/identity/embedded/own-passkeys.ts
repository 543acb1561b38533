import { APIError } from "better-auth/api"
import { and, asc, eq } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authPasskey, authSession } from "#db/schema/auth.ts"
import { MOST_PASSKEYS } from "#server/accounts/passkey-contract.ts"
import type { Log } from "#server/log.ts"
import type { AccountOutcome } from "#server/ports/account-forms.ts"
import type { OwnAccount } from "#server/ports/own-account.ts"
import type { Visit } from "#server/ports/session.ts"
import type { PasskeyAttestation } from "#server/ports/passkey-contract.ts"
import { networkOf } from "#server/transport/client-address.ts"
import type { Auth } from "./auth.ts"
import { countPasskeys, findFactor } from "./find-account.ts"
import { cookiesOf } from "./forms.ts"
import { forgetShownFactors } from "./second-factor.ts"
import type { RecordEvent } from "./auth-settings.ts"
import { ADDRESS_HEADER, senderOfVisit } from "./sender.ts"

interface Settings {
  auth: Auth
  db: Database
  log: Log
  record: RecordEvent
}

type OwnPasskeys = Pick<
  OwnAccount,
  "listPasskeys" | "beginPasskey" | "addPasskey" | "renamePasskey" | "removePasskey"
>

/**
 * The passkeys of the signed-in person. They are added with the provider's functions, not an
 * endpoint, because the account page requires the password first.
 */
export function openOwnPasskeys({ auth, db, log, record }: Settings): OwnPasskeys {
  const note = (visit: Visit, userId: string, event: string) =>
    log.info({ event, user: userId, from: networkOf(visit.address), refused: null }, "account")

  return {
    async listPasskeys(userId) {
      const passkeys = await db
        .select()
        .from(authPasskey)
        .where(eq(authPasskey.userId, userId))
        .orderBy(asc(authPasskey.createdAt))
      return passkeys.map(({ id, name, createdAt, lastUsedAt, backedUp }) => ({
        id,
        name: name ?? "",
        createdAt: createdAt?.getTime() ?? 0,
        usedAt: lastUsedAt?.getTime() ?? null,
        isSynced: backedUp,
      }))
    },

    async beginPasskey(visit, userId) {
      if ((await countPasskeys(db, userId)) >= MOST_PASSKEYS) return refuse("too-many-passkeys")
      const response = await auth.api.generatePasskeyRegistrationOptions({
        headers: headersOf(visit),
        asResponse: true,
      })
      if (!response.ok) throw new Error(`The options for a passkey were refused: ${response.status}`)
      return { ok: true, headers: cookiesOf(response), options: JSON.stringify(await response.json()) }
    },

    async addPasskey(visit, userId, { name, attestation }) {
      const made = await auth.api
        .verifyPasskeyRegistration({
          headers: headersOf(visit),
          body: { name, response: withTransports(attestation) },
        })
        .catch(unlessRefused)
      if (!made) return refuse("passkey-refused")
      // Checked afterwards: of many added concurrently, none remains beyond the limit.
      if ((await countPasskeys(db, userId)) > MOST_PASSKEYS) {
        await db.delete(authPasskey).where(isTheirs(userId, made.id))
        return refuse("too-many-passkeys")
      }
      await record({ userId, event: "passkey-added", facts: { name }, from: senderOfVisit(visit) })
      note(visit, userId, "passkey added")
      return { ok: true, headers: new Headers() }
    },

    async renamePasskey(userId, { id, name }) {
      const renamed = await db
        .update(authPasskey)
        .set({ name })
        .where(isTheirs(userId, id))
        .returning({ id: authPasskey.id })
      return renamed.length > 0
    },

    removePasskey: (visit, { userId, sessionId, id }) =>
      db.transaction(async (transaction) => {
        // The browser in which it is removed stays signed in.
        const isHere = and(eq(authSession.id, sessionId), eq(authSession.passkeyId, id))
        await transaction.update(authSession).set({ passkeyId: null }).where(isHere)
        const [removed] = await transaction
          .delete(authPasskey)
          .where(isTheirs(userId, id))
          .returning({ name: authPasskey.name })
        if (!removed) return false
        const hasFactor = (await findFactor(transaction, userId))?.verified
        if (!hasFactor && (await countPasskeys(transaction, userId)) === 0)
          await forgetShownFactors(transaction, userId)
        const facts = { name: removed.name ?? "" }
        await record({ userId, event: "passkey-removed", facts, from: senderOfVisit(visit) }, transaction)
        note(visit, userId, "passkey removed")
        return true
      }),
  }
}

const isTheirs = (userId: string, id: string) => and(eq(authPasskey.userId, userId), eq(authPasskey.id, id))

function headersOf({ request, address }: Visit): Headers {
  const headers = new Headers({ [ADDRESS_HEADER]: address })
  for (const name of ["cookie", "origin", "user-agent"]) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  return headers
}

/** The plugin joins them, and expects that there are some. */
function withTransports(attestation: PasskeyAttestation) {
  const { transports = [] } = attestation.response
  return { ...attestation, response: { ...attestation.response, transports } }
}

/**
 * The authenticator or browser sent something invalid, which the plugin sometimes reports as an
 * internal error.
 */
function unlessRefused(error: unknown): null {
  if (error instanceof APIError) return null
  throw error
}

function refuse(problem: "passkey-refused" | "too-many-passkeys"): AccountOutcome & { ok: false } {
  return { ok: false, problem, status: 403, retryAfter: null }
}
