import postgres from "postgres"
import { afterAll, beforeAll } from "vitest"
import { startTideline, type TidelineApp } from "./app.ts"
import { lazily } from "./lazily.ts"
import { signUp, type Person } from "./people.ts"

/**
 * Gives the tests of this file a running server with these settings, a way into its database, and
 * people who have signed up, each by their name. Call it at the top of the file, before its own hooks.
 */
export function withTideline<Name extends string = never>({
  settings = {},
  people,
  onboarded = false,
  connections = 1,
}: {
  /** A function for those that are known once what was opened above has been opened. */
  settings?: Record<string, string> | (() => Record<string, string>)
  people?: Record<Name, Parameters<typeof signUp>[1]>
  /** Whether these people have completed the onboarding. */
  onboarded?: boolean
  /** To the database, at once. */
  connections?: number
} = {}): { app: TidelineApp; sql: postgres.Sql } & Record<Name, Person> {
  let app: TidelineApp | undefined
  let sql: postgres.Sql | undefined
  const persons = new Map<string, Person>()
  const accounts = Object.entries<Parameters<typeof signUp>[1]>(people ?? {})

  beforeAll(async () => {
    app = await startTideline(typeof settings === "function" ? settings() : settings)
    sql = postgres(app.databaseUrl, { max: connections, onnotice: () => {} })
    for (const [name, account] of accounts) persons.set(name, await signUp(app, account))
    if (!onboarded) return
    for (const person of persons.values()) await person("/onboarding")
    await sql`update users set onboarding_completed = true`
  })
  afterAll(async () => {
    await sql?.end()
    await app?.stop()
  })

  const named = accounts.map(([name]) => [name, lazily(() => persons.get(name))] as const)
  return {
    app: lazily(() => app),
    sql: lazily(() => sql),
    ...(Object.fromEntries(named) as Record<Name, Person>),
  }
}
