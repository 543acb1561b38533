import { sql } from "drizzle-orm"
import { boolean, check, jsonb, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core"
import { owned } from "./ownership.ts"
import { milliseconds, record } from "./record.ts"

/** The changes that an operator can make for other people. */
export const OPERATOR_ACTS = [
  "change-plan",
  "sign-out",
  "suspend",
  "allow",
  "make-password-link",
  "remove-factors",
  "invite",
  "retry-letter",
  "drop-letter",
  "stop-answer",
] as const

export interface ActFacts {
  /** True if the change was made with `npm run user`, which has no account. */
  onServer?: true
  plans?: { previous: "free" | "pro"; next: "free" | "pro" }
  emailKind?: string
  /** How many parked emails were resent. */
  emails?: number
}

/**
 * The history of operators' changes: one row for each change, written in its transaction. Rows are
 * only ever added: the rule `keep_operator_acts` refuses everything else, except removing people whose account is
 * deleted. It is in no publication.
 */
export const operatorActs = pgTable(
  "operator_acts",
  {
    ...record(),
    act: text("act", { enum: OPERATOR_ACTS }).notNull(),
    /**
     * Who did it: the identity provider's id, and their email address at that time. Null once their
     * account is deleted.
     */
    operatorId: text("operator_id"),
    operatorEmail: text("operator_email"),
    /** The person it was about, in the same way. No id if there was no account. */
    subjectId: text("subject_id"),
    subjectEmail: text("subject_email"),
    /** The values of the change, without anything about a person. */
    facts: jsonb("facts").$type<ActFacts>(),
    /** The English text that an earlier version wrote instead of `facts`. */
    detail: text("detail"),
  },
  (table) => [
    check(
      "operator_acts_act",
      sql`${table.act} in ('change-plan', 'sign-out', 'suspend', 'allow', 'make-password-link', 'remove-factors', 'invite', 'retry-letter', 'drop-letter', 'stop-answer')`,
    ),
  ],
)

export type OperatorChange = typeof operatorActs.$inferSelect

/**
 * The newest release that RELEASES_URL named, and when it was last asked: at most one row, for all
 * processes. It is in no publication.
 */
export const releaseChecks = pgTable(
  "release_checks",
  {
    ...record(),
    place: text("place").notNull().default("everywhere"),
    /** The URL that was asked. What another one said does not count. */
    source: text("source").notNull(),
    checkedAt: milliseconds("checked_at").notNull(),
    /** Null until a release was read. */
    version: text("version"),
    /** The URL of its notes. */
    notes: text("notes"),
    /** Whether the last request failed. */
    failed: boolean("failed").notNull().default(false),
  },
  (table) => [
    uniqueIndex("release_checks_only_one").on(table.place),
    check("release_checks_place", sql`${table.place} = 'everywhere'`),
  ],
)

owned(operatorActs, {
  of: [
    { id: "operatorId", email: "operatorEmail", exportedBy: "id" },
    { id: "subjectId", email: "subjectEmail" },
  ],
  end: { forgets: [], because: "That an operator did something stays, without the person." },
  exportedAs: "operatorActs",
  exported: ["_creationTime", "act", "facts", "detail"],
  computed: ({ clerkId }) => ({ byViewer: sql`${operatorActs.operatorId} = ${clerkId}` }),
})
