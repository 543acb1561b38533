import { writeFileSync } from "node:fs"
import { join } from "node:path"
import postgres from "postgres"
import { signUp, type Person } from "../accounts.ts"
import { startThread } from "../chat/threads.ts"
import { PORT, startTideline, type Setting } from "./candidates.ts"
import { stopServer } from "./processes.ts"

const ORIGIN = `http://localhost:${PORT}`
export const POST = "/blog/a-commit-is-the-announcement"
const ROWS = 20

export interface Recorded {
  /** A signed-in user with twenty conversations and twenty files. */
  person: Person
  /** The path of a built asset. */
  asset: string
  recorded: Setting["recorded"]
  /** The bodies of pages, which another framework renders. */
  bodies: Record<string, string>
}

/**
 * Fills a new database and records Tideline's responses, so that all candidates send the same bytes
 * and markup.
 */
export async function record(stage: Pick<Setting, "databaseUrl" | "folder">): Promise<Recorded> {
  const served = await startTideline(stage, "/api/health")
  try {
    const person = await signUp(ORIGIN, 0)
    const { cookie, address } = person
    const get = (path: string) =>
      fetch(ORIGIN + path, { headers: { cookie, "x-forwarded-for": address, "accept-encoding": "identity" } })
    await get("/onboarding")
    await fill(person, stage.databaseUrl)
    const home = await (await fetch(ORIGIN)).text()
    const dashboard = await get("/dashboard")
    if (dashboard.status !== 200) throw new Error(`The dashboard answered ${dashboard.status}.`)
    const asset = /\/assets\/[\w.-]+\.css/.exec(home)?.[0] ?? ""
    const recorded: Setting["recorded"] = {}
    for (const [number, path] of ["/", POST, asset].entries()) {
      const answer = await fetch(ORIGIN + path, { headers: { "accept-encoding": "identity" } })
      const file = join(stage.folder, `recorded-${number}`)
      writeFileSync(file, await answer.bytes())
      recorded[path] = { type: answer.headers.get("content-type") ?? "", file }
    }
    const bodies = { "home.html": bodyOf(home), "dashboard.html": bodyOf(await dashboard.text()) }
    return { person, asset, recorded, bodies }
  } finally {
    await stopServer(served)
  }
}

/** Creates the rows through the application, as users would. */
async function fill(person: Person, databaseUrl: string) {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} })
  await sql`update users set onboarding_completed = true, onboarding_step = 'done'`
  await sql.end()
  for (let row = 0; row < ROWS; row++) {
    await startThread(ORIGIN, person)
    const headers = { origin: ORIGIN, cookie: person.cookie, "x-forwarded-for": person.address }
    const stored = await fetch(`${ORIGIN}/api/files?name=report-${row}.txt`, {
      method: "POST",
      headers,
      body: "A report.",
    })
    if (!stored.ok) throw new Error(`A file was answered with ${stored.status}.`)
  }
}

/** The page's body without React Router's scripts. */
function bodyOf(page: string): string {
  const body = /<body[^>]*>([\s\S]*)<\/body>/.exec(page)?.[1] ?? ""
  return body.replaceAll(/<script\b[\s\S]*?<\/script>/g, "")
}
