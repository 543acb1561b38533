import { sql } from "drizzle-orm"
import { check, text, type AnyPgColumn } from "drizzle-orm/pg-core"
import { milliseconds, record } from "./record.ts"
import { spaceKey } from "./spaces.ts"
import { ofUser } from "./users.ts"

/**
 * The columns of a public link, whatever it opens. Its URL is not stored: only the person who created
 * it has seen it.
 */
export const link = () => ({
  ...record(),
  userId: ofUser(),
  /** Hex: SHA-256 of the last part of the URL. */
  tokenHash: text("token_hash").notNull().unique(),
  /** The last four characters of the URL, by which its owner recognises it. */
  hint: text("hint").notNull(),
  expiresAt: milliseconds("expires_at"),
  /** `scrypt$<salt>$<hash>`, both base64url. */
  passwordHash: text("password_hash"),
  /** That of what it opens. */
  spaceKey: spaceKey(),
})

export function isTokenHash(name: string, tokenHash: AnyPgColumn) {
  return check(name, sql`${tokenHash} ~ '^[0-9a-f]{64}$'`)
}
