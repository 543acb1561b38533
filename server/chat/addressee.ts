import { and, eq } from "drizzle-orm"
import * as v from "valibot"
import { chatThreads } from "#db/schema/chat.ts"
import { spaceMembers } from "#db/schema/spaces.ts"
import { findNames } from "#server/notifications/mention.ts"
import type { Scope } from "#server/scope.ts"
import { ownMemberships } from "#server/spaces/access.ts"
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
  const place = known ?? { spaceId: (createsThread && spaceId) || null, peopleOnly: false }
  if (place.spaceId === null) return false
  // Who is not a member learns nothing of who is, not even by how the message is counted.
  if (!known && !(await isMember(scope, place.spaceId))) return false
  const named = text.includes("@") ? await findNames(scope, place.spaceId, text) : new Map()
  const names = Array.from(named.values(), ({ name }) => name)
  return !addresseeOf(text, names, place.peopleOnly).asksModel
}

async function isMember({ db, viewer }: Scope<"db" | "viewer">, spaceId: string): Promise<boolean> {
  return (
    (await db.$count(spaceMembers, and(ownMemberships({ viewer }), eq(spaceMembers.spaceId, spaceId)))) > 0
  )
}
