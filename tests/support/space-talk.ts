import type postgres from "postgres"
import { expect } from "vitest"
import type { SpaceSummary } from "#server/spaces/contract.ts"
import { post, postAsync } from "./api.ts"
import type { Person } from "./people.ts"

/** A space that the person owns. */
export async function createSpace(person: Person): Promise<SpaceSummary> {
  const made = await person("/api/spaces", post({ name: "Engines" }))
  const { space } = (await made.json()) as { space: SpaceSummary }
  return space
}

export async function addEditor(sql: postgres.Sql, spaceId: string, { email }: Person): Promise<void> {
  await sql`
    insert into space_members (space_id, user_id, role)
    select ${spaceId}, _id, 'editor' from users where email = ${email}`
}

/** The person's message in a new conversation of the space. Resolves with the conversation's id. */
export async function converse(person: Person, spaceId: string, text: string): Promise<string> {
  const threadId = crypto.randomUUID()
  const message = { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] }
  const body = { threadId, createThread: true, spaceId, messages: [message] }
  const answer = await person("/api/chat", postAsync(body))
  expect(answer.status, await answer.text()).toBe(202)
  return threadId
}
