import { sql } from "drizzle-orm"
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  index,
  integer,
  pgSchema,
  text,
  timestamp,
  uniqueIndex,
} from "drizzle-orm/pg-core"
import { owned } from "./ownership.ts"

/**
 * The tables of the embedded identity provider. better-auth defines, reads and writes their fields;
 * a test compares the two. They contain password hashes and signing keys, so they are separate from
 * the records: the change stream only reads `public`.
 */
export const auth = pgSchema("auth")

const id = () => text("id").primaryKey()
const time = (name: string) => timestamp(name, { withTimezone: true })
const createdAt = () => time("created_at").notNull().defaultNow()
const updatedAt = () => time("updated_at").notNull().defaultNow()
const owner = (name = "user_id") =>
  text(name)
    .notNull()
    .references(() => authUser.id, { onDelete: "cascade" })

export const authUser = auth.table(
  "user",
  {
    id: id(),
    name: text("name").notNull(),
    email: text("email").notNull(),
    emailVerified: boolean("email_verified").notNull().default(false),
    image: text("image"),
    plan: text("plan", { enum: ["free", "pro"] })
      .notNull()
      .default("free"),
    /**
     * Whether more than access to the mailbox proved whose account this is: the address was
     * confirmed by the person who had the account, or the password was chosen with a link created
     * on the server. A reset by email revokes it. Operators need it.
     */
    holderConfirmed: boolean("holder_confirmed").notNull().default(false),
    /**
     * When an operator suspended the person; null for everybody else. Triggers end the person's
     * sessions when it is set, and refuse new ones while it is.
     */
    suspendedAt: time("suspended_at"),
    twoFactorEnabled: boolean("two_factor_enabled").default(false),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("user_by_email").on(table.email),
    check("user_email", sql`${table.email} = lower(${table.email})`),
    check("user_plan", sql`${table.plan} in ('free', 'pro')`),
  ],
)

export const authSession = auth.table(
  "session",
  {
    id: id(),
    token: text("token").notNull(),
    userId: owner(),
    expiresAt: time("expires_at").notNull(),
    ipAddress: text("ip_address"),
    userAgent: text("user_agent"),
    /**
     * Whether more than a password opened it. Processes of an earlier version do not set it, so
     * their sessions have none.
     */
    secondFactor: boolean("second_factor").notNull().default(false),
    /** The passkey that opened it. Removing the passkey ends the session. */
    passkeyId: text("passkey_id").references((): AnyPgColumn => authPasskey.id, { onDelete: "cascade" }),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("session_by_token").on(table.token),
    index("session_by_user_id").on(table.userId),
    index("session_by_passkey_id").on(table.passkeyId),
  ],
)

/**
 * One way of signing in. Ours is `credential`, an email with a password; the tokens are other
 * providers'.
 */
export const authAccount = auth.table(
  "account",
  {
    id: id(),
    accountId: text("account_id").notNull(),
    providerId: text("provider_id").notNull(),
    userId: owner(),
    accessToken: text("access_token"),
    refreshToken: text("refresh_token"),
    idToken: text("id_token"),
    accessTokenExpiresAt: time("access_token_expires_at"),
    refreshTokenExpiresAt: time("refresh_token_expires_at"),
    scope: text("scope"),
    password: text("password"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("account_by_provider").on(table.providerId, table.accountId),
    index("account_by_user_id").on(table.userId),
  ],
)

/** Single-use secrets, such as the one in the link that resets a password. */
export const authVerification = auth.table(
  "verification",
  {
    id: id(),
    identifier: text("identifier").notNull(),
    value: text("value").notNull(),
    expiresAt: time("expires_at").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [index("verification_by_identifier").on(table.identifier)],
)

/** An authenticator app. The secret and the recovery codes are encrypted with AUTH_SECRET. */
export const authTwoFactor = auth.table(
  "two_factor",
  {
    id: id(),
    secret: text("secret").notNull(),
    backupCodes: text("backup_codes").notNull(),
    userId: owner(),
    /** False until the first code has been entered. */
    verified: boolean("verified").default(true),
    failedVerificationCount: integer("failed_verification_count").default(0),
    lockedUntil: time("locked_until"),
  },
  (table) => [uniqueIndex("two_factor_by_user_id").on(table.userId)],
)

/** The public half of a passkey. The private one never leaves the person's authenticator. */
export const authPasskey = auth.table(
  "passkey",
  {
    id: id(),
    name: text("name"),
    publicKey: text("public_key").notNull(),
    userId: owner(),
    credentialID: text("credential_id").notNull(),
    counter: bigint("counter", { mode: "number" }).notNull(),
    deviceType: text("device_type").notNull(),
    backedUp: boolean("backed_up").notNull(),
    transports: text("transports"),
    createdAt: time("created_at"),
    aaguid: text("aaguid"),
    lastUsedAt: time("last_used_at"),
  },
  (table) => [
    uniqueIndex("passkey_by_credential_id").on(table.credentialID),
    index("passkey_by_user_id").on(table.userId),
  ],
)

/** The keys that sign realtime tokens. The private halves are encrypted with AUTH_SECRET. */
export const authJwks = auth.table("jwks", {
  id: id(),
  publicKey: text("public_key").notNull(),
  privateKey: text("private_key").notNull(),
  alg: text("alg"),
  crv: text("crv"),
  createdAt: createdAt(),
  expiresAt: time("expires_at"),
})

export const authRateLimit = auth.table(
  "rate_limit",
  {
    id: id(),
    key: text("key").notNull(),
    count: integer("count").notNull(),
    lastRequest: bigint("last_request", { mode: "number" }).notNull(),
  },
  (table) => [uniqueIndex("rate_limit_by_key").on(table.key)],
)

/** `key` is a hash; the key itself is shown once, when it is created. */
export const authApiKey = auth.table(
  "apikey",
  {
    id: id(),
    configId: text("config_id").notNull().default("default"),
    name: text("name"),
    start: text("start"),
    prefix: text("prefix"),
    key: text("key").notNull(),
    referenceId: owner("reference_id"),
    refillInterval: integer("refill_interval"),
    refillAmount: integer("refill_amount"),
    lastRefillAt: time("last_refill_at"),
    enabled: boolean("enabled").default(true),
    rateLimitEnabled: boolean("rate_limit_enabled").default(false),
    rateLimitTimeWindow: integer("rate_limit_time_window"),
    rateLimitMax: integer("rate_limit_max"),
    requestCount: integer("request_count").default(0),
    remaining: integer("remaining"),
    lastRequest: time("last_request"),
    /** The network address that last used it. */
    lastAddress: text("last_address"),
    expiresAt: time("expires_at"),
    permissions: text("permissions"),
    metadata: text("metadata"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("apikey_by_key").on(table.key),
    index("apikey_by_config_id").on(table.configId),
    index("apikey_by_reference_id").on(table.referenceId),
  ],
)

owned(authUser, { of: "id", exportedIn: "account.json", end: { by: "the identity provider" } })
owned(authSession, { of: "userId", exportedIn: "account.json" })
owned(authPasskey, { of: "userId", exportedIn: "account.json" })
owned(authApiKey, { of: "referenceId", exportedIn: "account.json" })
owned(authAccount, { of: "userId", notExported: "The hash of the password." })
owned(authTwoFactor, {
  of: "userId",
  notExported: "The secret of the authenticator app, encrypted; account.json says that there is one.",
})
owned(authVerification, {
  of: "value",
  end: { by: "the identity provider: the id is a part of the value" },
  notExported: "Secrets of links that were sent by email.",
})
