import { index, text } from "drizzle-orm/pg-core"
import { auth, authSession } from "./auth.ts"
import { owned } from "./ownership.ts"

/** The single sign-on provider's session behind each session here, which ends with it. */
export const authProviderSession = auth.table(
  "provider_session",
  {
    sessionId: text("session_id")
      .primaryKey()
      .references(() => authSession.id, { onDelete: "cascade" }),
    issuer: text("issuer").notNull(),
    /** The provider's id of its session; null if it gives none. */
    sid: text("sid"),
  },
  (table) => [index("provider_session_by_sid").on(table.issuer, table.sid)],
)

owned(authProviderSession, {
  of: "sessionId",
  notExported: "An id with which a provider ends the session. The browser is in the archive.",
})
