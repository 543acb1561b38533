import { expect } from "vitest"
import { postAsync } from "./api.ts"
import type { Person } from "./people.ts"

/** The person's message in a new conversation of the space. Resolves with the conversation's id. */
export async function converse(person: Person, spaceId: string, text: string): Promise<string> {
  const threadId = crypto.randomUUID()
  const message = { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] }
  const body = { threadId, createThread: true, spaceId, messages: [message] }
  const answer = await person("/api/chat", postAsync(body))
  expect(answer.status, await answer.text()).toBe(202)
  return threadId
}
