import { and, eq, inArray } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { authPasskey, authTwoFactor } from "#db/schema/auth.ts"
import type { AccountOutcome } from "#server/ports/account-forms.ts"
import type { OwnAccount } from "#server/ports/own-account.ts"
import type { Visit } from "#server/ports/session.ts"
import type { Auth } from "./auth.ts"
import { findFactor } from "./find-account.ts"
import { cookiesOf, refusalOf, type Send } from "./forms.ts"
import { normalizeCode, removeFactorsOf } from "./second-factor.ts"

interface Settings {
  db: Database
  auth: Auth
  post(visit: Visit, path: string, body: object): Promise<AccountOutcome>
  send: Send
}

type OwnFactor = Pick<
  OwnAccount,
  | "findSecondFactor"
  | "beginSecondFactor"
  | "confirmSecondFactor"
  | "renewRecoveryCodes"
  | "removeSecondFactor"
  | "removeFactors"
  | "findFactorHolders"
>

/** The second factor of the signed-in person, through the provider's own HTTP handler. */
export function openSecondFactor({ db, auth, post, send }: Settings): OwnFactor {
  /** Only the provider's server functions do this, no endpoint. */
  const readRecoveryCodes = async (userId: string) =>
    (await auth.api.viewBackupCodes({ body: { userId } })).backupCodes

  return {
    async findSecondFactor(userId) {
      const factor = await findFactor(db, userId)
      return factor?.verified ? { recoveryCodes: (await readRecoveryCodes(userId)).length } : null
    },

    async beginSecondFactor(visit, password) {
      const response = await send(visit, "/two-factor/enable", withPassword(password))
      if (!response.ok) return refusalOf(response)
      const { totpURI: uri } = v.parse(Begun, await response.json())
      return { ok: true, headers: cookiesOf(response), uri }
    },

    async confirmSecondFactor(visit, { userId, code }) {
      const outcome = await post(visit, "/two-factor/verify-totp", { code: normalizeCode(code) })
      return outcome.ok ? { ...outcome, recoveryCodes: await readRecoveryCodes(userId) } : outcome
    },

    async renewRecoveryCodes(visit, { password, code }) {
      const body = { ...withPassword(password), code: normalizeCode(code) }
      const response = await send(visit, "/two-factor/generate-backup-codes", body)
      if (!response.ok) return refusalOf(response)
      const { backupCodes: recoveryCodes } = v.parse(Renewed, await response.json())
      return { ok: true, headers: cookiesOf(response), recoveryCodes }
    },

    removeSecondFactor: (visit, { password, code }) =>
      post(visit, "/two-factor/disable", { ...withPassword(password), code: normalizeCode(code) }),

    removeFactors: removeFactorsOf,

    async findFactorHolders(userIds) {
      const isOneOf = and(inArray(authTwoFactor.userId, [...userIds]), eq(authTwoFactor.verified, true))
      const holders = await db
        .select({ userId: authTwoFactor.userId })
        .from(authTwoFactor)
        .where(isOneOf)
        .union(
          db
            .select({ userId: authPasskey.userId })
            .from(authPasskey)
            .where(inArray(authPasskey.userId, [...userIds])),
        )
      return holders.map(({ userId }) => userId)
    },
  }
}

function withPassword(password: string | null) {
  return password === null ? {} : { password }
}

const Begun = v.object({ totpURI: v.string() })
const Renewed = v.object({ backupCodes: v.array(v.string()) })
