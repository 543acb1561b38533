import { and, eq } from "drizzle-orm"
import * as v from "valibot"
import { chatThreads } from "#db/schema/chat.ts"
import { findNames } from "#server/notifications/mention.ts"
import type { Scope } from "#server/scope.ts"
import { readableThreads } from "./access.ts"
import { addresseeOf } from "./addressee-contract.ts"
import { ThreadId } from "./contract.ts"
import type { SentMessage } from "./resent.ts"

type Addressed = Pick<SentMessage, "text" | "asks" | "again" | "createsThread" | "spaceId">

/** Whether a message is to the people in a space: the model does not reply to it. */
export async function isToPeople(
  scope: Scope<"db" | "viewer">,
  threadId: string,
  { text, asks, again, createsThread, spaceId }: Addressed,
): Promise<boolean> {
  if (asks || again || !v.is(ThreadId, threadId)) return false
  const [known] = await scope.db
    .select({ spaceId: chatThreads.spaceId, peopleOnly: chatThreads.peopleOnly })
    .from(chatThreads)
    .where(and(readableThreads(scope), eq(chatThreads._id, threadId)))
  const begun = { spaceId: (createsThread && spaceId) || null, peopleOnly: false }
  const place = known ?? begun
  if (place.spaceId === null) return false
  const named = text.includes("@") ? await findNames(scope, place.spaceId, text) : new Map()
  const names = Array.from(named.values(), ({ name }) => name)
  return !addresseeOf(text, names, place.peopleOnly).asksModel
}
