import postgres from "postgres"
import { startTideline, type TidelineApp } from "./app.ts"
import { ISSUER, startClerk } from "./clerk.ts"
import type { Fetch } from "./openapi.ts"
import { openBrowser, signUp } from "./people.ts"

/** A signed-in user, whichever provider they come from. */
interface Member extends Fetch {
  /** A key for scripts. */
  apiKey(): Promise<string>
  /** The identity provider has no email address for them from now on. */
  loseAddress(): Promise<void>
}

/** The application with an identity provider, and ways to sign in to it. */
export interface Deployment extends TidelineApp {
  /** What a page of the dashboard shows before its scripts run. */
  dashboard: RegExp
  enter(person: { name: string; email: string }): Promise<Member>
}

/** Every identity provider that there is: the contract must hold with each of them. */
export const DEPLOYMENTS: { provider: string; start(env?: Record<string, string>): Promise<Deployment> }[] = [
  { provider: "the embedded identity", start: startEmbedded },
  { provider: "Clerk", start: startWithClerk },
]

async function startEmbedded(env: Record<string, string> = {}): Promise<Deployment> {
  const app = await startTideline(env)
  return {
    ...app,
    dashboard: /<h1[\s>]/,
    async enter(person) {
      const member = await signUp(app, person)
      return Object.assign(member, {
        loseAddress: () => execute(app, `update auth.user set email = '' where email = '${person.email}'`),
      })
    },
  }
}

/** With a stand-in for Clerk's Backend API, and sessions in tokens of Clerk's format. */
async function startWithClerk(env: Record<string, string> = {}): Promise<Deployment> {
  const clerk = await startClerk()
  const app = await startTideline({
    ...clerk.settings,
    JWT_ISSUER_DOMAIN: ISSUER,
    ...env,
  }).catch((error: unknown) => {
    clerk.close()
    throw error
  })
  let people = 0
  return {
    ...app,
    // Clerk's browser code must get the session first.
    dashboard: /Loading your session/,
    async enter({ name, email }) {
      const [first = "", last = ""] = name.split(" ")
      const id = `user_${++people}`
      const user = { id, email, name: [first, last] as [string, string], plan: "free" as const }
      clerk.users.set(id, user)
      clerk.apiKeys.set(`ak_${people}`, id)
      const key = `ak_${people}`
      const sid = id.replace("user_", "sess_")
      const claims = { sub: id, sid, v: 2, sts: "active", azp: app.origin, pla: "u:free", fea: "" }
      // Clerk's browser code renews it every minute; nothing does so here.
      const session = await clerk.mint(claims, { life: 600 })
      return Object.assign(openBrowser(app, { __session: session, __client_uat: "1" }), {
        apiKey: async () => key,
        loseAddress: async () => void clerk.users.set(id, { ...user, email: "" }),
      })
    },
    async stop() {
      await app.stop()
      clerk.close()
    },
  }
}

async function execute({ databaseUrl }: TidelineApp, statement: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1 })
  await sql.unsafe(statement)
  await sql.end()
}
