import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import type { ThreadSummary } from "#server/chat/contract.ts"
import type { EntryPage } from "#server/chat/read-operations.ts"
import { post, postAsync } from "../support/api.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { ada, signUp, type Person } from "../support/people.ts"
import { openScriptedGateway } from "../support/scripted-gateway.ts"
import { withResource } from "../support/with-resource.ts"

const gateway = withResource(openScriptedGateway)
let app: TidelineApp
let person: Person

// With its own PostgreSQL, which it starts again when it dies.
beforeAll(async () => {
  app = await startTideline({ DATABASE_URL: "", ...gateway.env })
  person = await signUp(app, ada)
})
afterAll(() => app.stop())
beforeEach(() => {
  gateway.answers.length = 0
})

it("a reply that ends as PostgreSQL dies is stored", async () => {
  const threadId = await ask()
  const answer = await gateway.asked(0)
  answer.say("The sea is deep")
  await expect.poll(() => contentOf(threadId)).toBe("The sea is deep")
  killPostgres()
  answer.say(" and wide.")
  answer.finish()
  await expect.poll(() => statusOf(threadId), { timeout: 25_000 }).toBe("completed")
  expect(await contentOf(threadId)).toBe("The sea is deep and wide.")
})

it("a reply continues while PostgreSQL is down, and its text is complete afterwards", async () => {
  const threadId = await ask()
  const answer = await gateway.asked(0)
  answer.say("Before, ")
  await expect.poll(() => contentOf(threadId)).toBe("Before, ")
  killPostgres()
  answer.say("while it was away, ")
  await expect.poll(() => contentOf(threadId), { timeout: 25_000 }).toBe("Before, while it was away, ")
  answer.say("and after.")
  answer.finish()
  await expect.poll(() => statusOf(threadId), { timeout: 25_000 }).toBe("completed")
  expect(await contentOf(threadId)).toBe("Before, while it was away, and after.")
})

function killPostgres() {
  const file = readFileSync(join(app.dataDir, "postgres/data/postmaster.pid"), "utf8")
  process.kill(Number.parseInt(file, 10), "SIGKILL")
}

async function ask() {
  const made = await person("/api/chat/threads", post({ title: "The sea" }))
  const { thread } = (await made.json()) as { thread: ThreadSummary }
  const parts = [{ type: "text", text: "How deep is the sea?" }]
  const asked = await person(
    "/api/chat",
    postAsync({ threadId: thread._id, messages: [{ id: "q1", role: "user", parts }] }),
  )
  expect(asked.status).toBe(202)
  return thread._id
}

/** The reply as stored; undefined while the database is unreachable. */
async function answerOf(threadId: string) {
  const headers = { cookie: person.cookie() }
  const response = await fetch(`${app.origin}/api/chat/threads/${threadId}/messages`, { headers })
  return response.ok ? ((await response.json()) as EntryPage).entries.at(-1) : undefined
}

async function contentOf(threadId: string) {
  return (await answerOf(threadId))?.content
}

async function statusOf(threadId: string) {
  return (await answerOf(threadId))?.turn?.status
}
