import type { Person } from "../accounts.ts"

/**
 * Returns the new conversation's id. It already has a title, so that the model isn't asked for one.
 */
export async function startThread(origin: string, { cookie, address }: Person): Promise<string> {
  const response = await fetch(`${origin}/api/chat/threads`, {
    method: "POST",
    headers: { "content-type": "application/json", origin, cookie, "x-forwarded-for": address },
    body: JSON.stringify({ title: "Streams" }),
  })
  if (!response.ok) throw new Error(`No conversation was made: ${response.status} ${await response.text()}`)
  const { thread } = (await response.json()) as { thread: { _id: string } }
  return thread._id
}
