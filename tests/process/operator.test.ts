import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { ThreadSummary } from "#server/chat/contract.ts"
import type { Asked } from "#server/chat/request.ts"
import { postAsync } from "../support/api.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { ada, grace, postJson, signIn, signUp, type Person } from "../support/people.ts"
import { addSecondFactor } from "../support/second-factor.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { openScriptedGateway, type ScriptedGateway } from "../support/scripted-gateway.ts"

let gateway: ScriptedGateway
let database: Awaited<ReturnType<typeof createTestDatabase>>
let here: TidelineApp
let there: TidelineApp
let sql: postgres.Sql
let operator: Person
let person: Person
beforeAll(async () => {
  gateway = await openScriptedGateway()
  database = await createTestDatabase()
  sql = postgres(database.url, { max: 1 })
  const env = { DATABASE_URL: database.url, ADMIN_EMAILS: ada.email, ...gateway.env }
  here = await startTideline(env)
  there = await startTideline(env)
  operator = await signUp(here, ada)
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${ada.email}`
  await addSecondFactor(operator, operator.password)
  await signUp(here, grace)
  person = await signIn(there, grace)
})
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()])
  await sql.end()
  await database.close()
  await gateway.close()
})

describe("the operator's page in one process", () => {
  it("shows another's connections and replies, stops a reply there, and signs its people out", async () => {
    const socket = await openLiveSocket(there, await realtimeToken(person))
    const made = await postJson(person, "/api/chat/threads", { title: "The sea" })
    const { thread } = (await made.json()) as { thread: ThreadSummary }
    const messages = [{ id: "q1", role: "user", parts: [{ type: "text", text: "How deep is the sea?" }] }]
    const asked = await person("/api/chat", postAsync({ threadId: thread._id, messages }))
    const { answerId } = (await asked.json()) as Asked
    const answer = await gateway.asked(0)
    answer.say("Very ")

    await expect.poll(overview, { timeout: 10_000 }).toContain("1 live connection, 1 reply")
    const page = await overview()
    expect(page.match(/Process [\w.-]+:\d+/g)).toHaveLength(2)
    expect(page.match(/This one/g)).toHaveLength(1)
    expect(page).toContain("0 live connections, 0 replies")

    expect((await act("/admin", { intent: "stop", answerId })).status).toBe(303)
    await expect
      .poll(() => sql`select status from chat_turns where _id = ${answerId}`, { timeout: 10_000 })
      .toEqual([{ status: "stopped" }])

    const [row] = await sql`select clerk_id from users where email = ${grace.email}`
    await act("/admin/people", { intent: "sign-out", userId: String(row?.["clerk_id"]) })
    await socket.until(({ name }) => name === "goodbye")
    expect((await person("/api/files")).status).toBe(401)
  })
})

async function overview(): Promise<string> {
  return (await operator("/admin")).text()
}

function act(path: string, fields: Record<string, string>): Promise<Response> {
  return operator(path, { method: "POST", body: new URLSearchParams(fields) })
}
