import { sql } from "drizzle-orm"
import { boolean, check, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { liveTable } from "./live-table.ts"
import { record } from "./record.ts"

/**
 * The copy of what the identity provider says of a person, where they are in onboarding, what
 * language they read, and how they are notified.
 */
export const users = pgTable(
  "users",
  {
    ...record(),
    /** The identity provider's user id, whichever provider it is. */
    clerkId: text("clerk_id").notNull(),
    email: text("email").notNull(),
    name: text("name"),
    imageUrl: text("image_url"),
    plan: text("plan", { enum: ["free", "pro"] }),
    onboardingCompleted: boolean("onboarding_completed"),
    onboardingStep: text("onboarding_step", { enum: ["welcome", "profile", "first-steps", "done"] }),
    /** The one in which emails are written to them. Null until they have seen a page. */
    language: text("language", { enum: ["en", "de"] }),
    /** Whether a mention of them is shown in the application, and sent by email if it is not read. */
    notifiesInApp: boolean("notifies_in_app").notNull().default(true),
    notifiesByEmail: boolean("notifies_by_email").notNull().default(true),
  },
  (table) => [
    uniqueIndex("users_by_clerk_id").on(table.clerkId),
    uniqueIndex("users_live").on(table.clerkId, table._id),
    check("users_plan", sql`${table.plan} in ('free', 'pro')`),
    check(
      "users_onboarding_step",
      sql`${table.onboardingStep} in ('welcome', 'profile', 'first-steps', 'done')`,
    ),
    check("users_language", sql`${table.language} in ('en', 'de')`),
  ],
)

/** The column of a row that is somebody's, and is deleted with their record. */
export const ofUser = () =>
  uuid("user_id")
    .notNull()
    .references(() => users._id, { onDelete: "cascade" })

/**
 * The record under which stays what people added to spaces, once their accounts are deleted. The
 * rule `leave_spaces_of_person` creates it with the first such row. Nobody signs in with it, and lists of people leave it out.
 */
export const FORMER_MEMBER = "00000000-0000-0000-0000-000000000001"

export type User = typeof users.$inferSelect

export const watchedUsers = liveTable(users, {
  keys: ["clerkId"],
  of: "_id",
  exportedIn: "account.json",
  end: { by: "`deleteAccount`, after everything that refers to it" },
  sentences: {
    clerkId: "The identity provider's id, whichever provider it is.",
    email: "Empty if the provider knows no email address.",
    onboardingStep: "Null before the first step.",
  },
})
