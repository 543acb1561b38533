import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { OBSERVED, openObserver } from "../support/called-functions.ts"
import { formFor } from "../support/forms.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { postJson, signUp, type Person } from "../support/people.ts"
import { addSecondFactor } from "../support/second-factor.ts"

const root = resolve(import.meta.dirname, "../..")

interface Step {
  name: string
  file: string
  /** Why the flow returns to a folder; empty if no reason is given. */
  reason: string
}

const flows = readFlows()

let app: TidelineApp
let observer: Awaited<ReturnType<typeof openObserver>>
let sql: postgres.Sql
let ada: Person
let operator: Person
beforeAll(async () => {
  app = await startTideline({ ...OBSERVED, ADMIN_EMAILS: "grace@example.org" })
  observer = await openObserver(app)
  sql = postgres(app.databaseUrl, { max: 1 })
  ada = await signUp(app, { name: "Ada Lovelace", email: "ada@example.org" })
  operator = await signUp(app, { name: "Grace Hopper", email: "grace@example.org" })
  for (const person of [ada, operator]) await person("/onboarding")
  await sql`update users set onboarding_completed = true`
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${operator.email}`
  await addSecondFactor(operator, operator.password)
})
afterAll(async () => {
  observer.close()
  await sql.end()
  await app.stop()
})

const ACTS: Record<string, () => Promise<unknown>> = {
  "A dashboard request": async () => {
    const page = await ada("/dashboard/files")
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("</html>")])
  },
  "An upload": async () => {
    const body = new FormData()
    body.append("file", new File(["hello"], "hello.txt", { type: "text/plain" }))
    expect((await ada("/api/files", { method: "POST", body })).status).toBe(201)
  },
  "A chat message": async () => {
    const made = await postJson(ada, "/api/chat/threads", {})
    const { thread } = (await made.json()) as { thread: { _id: string } }
    const parts = [{ type: "text", text: "hello" }]
    const asked = { threadId: thread._id, messages: [{ id: "1", role: "user", parts }] }
    const reply = await postJson(ada, "/api/chat", asked)
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining("[DONE]")])
  },
  "A commit to React state": async () => {
    const live = await openLiveSocket(app, await realtimeToken(ada))
    expect(await live.subscribe("users.getOnboardingStatus", {})).toMatchObject({ refused: [] })
    await sql`update users set onboarding_step = 'done' where email = ${ada.email}`
    await live.until(({ name }) => name === "commit")
    live.close()
  },
  "A change of plan": async () => {
    const [person] = await sql`select clerk_id from users where email = ${ada.email}`
    const values = { userId: String(person?.["clerk_id"]), plan: "pro" }
    const form = formFor(operatorOperations.changePlan, values, {}, "/admin/people?did=:_id")
    expect((await operator("/admin/people", form)).status).toBe(303)
  },
}

it("docs/architecture.md lists the flows that are run here", () => {
  expect(Object.keys(flows)).toEqual(Object.keys(ACTS).map((title) => expect.stringContaining(title)))
})

describe.each(Object.entries(flows))("%s", (title, steps) => {
  it("passes functions that are where docs/architecture.md says", () => {
    expect(steps.length).toBeGreaterThan(5)
    expect(steps.filter(({ name, file }) => !defines(file, name))).toEqual([])
  })

  it("calls each of the listed server functions", async () => {
    const act = ACTS[title]
    if (!act) throw new Error(`No test performs "${title}".`)
    const called = await observer.calledWhile(act)
    const onServer = steps.filter(({ file }) => /^(server|db|live\/server)\//.test(file))
    expect(onServer.filter(({ name }) => !called.has(name))).toEqual([])
  })

  it("returns to a folder only with a stated reason", () => {
    const folders = steps.map(({ file }) => file.split("/").slice(0, 2).join("/"))
    const returns = steps.filter(
      (_, at) => folders[at] !== folders[at - 1] && folders.slice(0, at).includes(folders[at] ?? ""),
    )
    expect(returns.filter(({ reason }) => reason === "")).toEqual([])
  })
})

/**
 * Reads steps such as: 1. `openTurn` (`server/chat/open-turn.ts`) stores the question. Again here
 * because ...
 */
function readFlows(): Record<string, Step[]> {
  const text = readFileSync(join(root, "docs/architecture.md"), "utf8")
  const [, section = ""] = /\n## Five flows\n([\s\S]*?)(?:\n## |$)/.exec(text) ?? []
  const parts = section.split(/\n### /).slice(1)
  return Object.fromEntries(parts.map((part) => [part.split("\n", 1)[0] ?? "", readSteps(part)]))
}

function readSteps(part: string): Step[] {
  const steps = part.matchAll(/^\d+\. `(\w+)` \(`([^`]+)`\)(.*)$/gm)
  return [...steps].map(([, name = "", file = "", rest = ""]) => ({
    name,
    file,
    reason: /Again here because (.+)/.exec(rest)?.[1] ?? "",
  }))
}

function defines(file: string, name: string): boolean {
  const path = join(root, file)
  if (!existsSync(path)) return false
  const declaration = String.raw`(?:function\*? |(?:const|let|async|get) |^\s+(?:async )?\*?#?)${name}\b[^\n]*[({=]`
  return new RegExp(declaration, "m").test(readFileSync(path, "utf8"))
}
