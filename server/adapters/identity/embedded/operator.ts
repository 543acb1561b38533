import { asc, eq } from "drizzle-orm"
import { authUser } from "#db/schema/auth.ts"
import { createAuth } from "./auth.ts"
import type { AuthSettings } from "./auth-settings.ts"
import { MADE_ON_SERVER, makeResetLink } from "./reset-link.ts"

type OperatorSettings = Pick<AuthSettings, "origin" | "issuer" | "authSecret" | "db" | "log" | "record">

/**
 * Changes of accounts that only the operator can make: no URL of the server leads here. Unknown
 * addresses throw.
 */
export function openOperator(settings: OperatorSettings) {
  const { db, origin } = settings
  const auth = createAuth({
    ...settings,
    signup: "closed",
    verification: "optional",
    secondFactor: "optional",
    mailResetLink: refuseMail,
    mailSignUpAttempted: refuseMail,
    mailVerificationLink: refuseMail,
    isSuspended: async () => false,
    afterResponse: refuseMail,
    invitations: { isFor: async () => false, redeem: async () => false },
  })

  async function findAccount(email: string) {
    const [account] = await db.select().from(authUser).where(eq(authUser.email, email.trim().toLowerCase()))
    if (!account)
      throw new Error(`There is no account with the address ${email}. To see all: npm run user -- list`)
    return account
  }

  const linkFor = (userId: string) => makeResetLink(auth, origin, userId, MADE_ON_SERVER)

  return {
    findAccount,

    listAccounts: () => db.select().from(authUser).orderBy(asc(authUser.createdAt)),

    /** A link by which the person chooses a new password. */
    async resetPassword(email: string) {
      const { id } = await findAccount(email)
      await settings.record({ userId: id, event: "password-link-created", ...ON_SERVER })
      return linkFor(id)
    },

    /**
     * Works even if sign-up is closed. A link with which the person chooses a password; null if the
     * account already exists.
     */
    async createAccount(email: string, name: string) {
      const { internalAdapter } = await auth.$context
      const address = email.trim().toLowerCase()
      if (await internalAdapter.findUserByEmail(address)) return null
      const account = { email: address, name, emailVerified: true }
      const { id } = await internalAdapter.createUser(account, { method: "email-password" })
      await settings.record({ userId: id, event: "account-created", ...ON_SERVER })
      return linkFor(id)
    },

    /** The key itself, which is only shown this once. */
    async createApiKey(email: string, name: string) {
      const { id } = await findAccount(email)
      const { key, start } = await auth.api.createApiKey({ body: { name, userId: id } })
      const facts = { ...ON_SERVER.facts, name, start: start ?? "" }
      await settings.record({ userId: id, event: "key-created", ...ON_SERVER, facts })
      return key
    },
  }
}

/** For an event that no browser caused. */
const ON_SERVER = { from: null, facts: { onServer: true } } as const

function refuseMail(): never {
  throw new Error("Nobody asks the operator's commands for a link by mail.")
}
