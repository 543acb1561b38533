import postgres from "postgres"
import { afterAll, beforeAll } from "vitest"
import { startTideline, type TidelineApp } from "./app.ts"
import { lazily } from "./lazily.ts"
import { signUp, type Person } from "./people.ts"

interface Tideline {
  app: TidelineApp
  sql: postgres.Sql
  /** Signs up somebody called Ada, who completes the onboarding. */
  newPerson(email?: string): Promise<Person>
}

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
} = {}): Tideline & Record<Name, Person> {
  let started: TidelineApp | undefined
  let opened: postgres.Sql | undefined
  const [app, sql] = [lazily(() => started), lazily(() => opened)]
  const persons = new Map<string, Person>()
  const accounts = Object.entries<Parameters<typeof signUp>[1]>(people ?? {})

  beforeAll(async () => {
    started = await startTideline(typeof settings === "function" ? settings() : settings)
    opened = postgres(app.databaseUrl, { max: connections, onnotice: () => {} })
    for (const [name, account] of accounts) persons.set(name, await signUp(app, account))
    if (onboarded) for (const person of persons.values()) await completeOnboarding(person)
  })
  afterAll(async () => {
    await opened?.end()
    await started?.stop()
  })

  async function completeOnboarding(person: Person) {
    // The first page requested creates the record.
    await person("/onboarding")
    await sql`update users set onboarding_completed = true where email = ${person.email}`
  }

  let count = 0
  const named = accounts.map(([name]) => [name, lazily(() => persons.get(name))] as const)
  return {
    app,
    sql,
    async newPerson(email = `ada${++count}@example.org`) {
      const person = await signUp(app, { name: "Ada", email })
      await completeOnboarding(person)
      return person
    },
    ...(Object.fromEntries(named) as Record<Name, Person>),
  }
}
