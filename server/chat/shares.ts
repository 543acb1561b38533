import { asc, eq } from "drizzle-orm"
import {
  chatMessages,
  chatShares,
  chatThreads,
  chatTurns,
  type ChatShare,
  type ChatThread,
} from "#db/schema/chat.ts"
import { linkRowOf } from "#server/links/contract.ts"
import { createLink, listLinks, revokeLink } from "#server/links/links.ts"
import type { LinkTarget } from "#server/links/target.ts"
import { implement } from "#server/operations/implement.ts"
import type { Scope } from "#server/scope.ts"
import { readableMessages } from "./access.ts"
import type { ShareThread, ThreadShareSummary } from "./contract.ts"
import { forgetReplies } from "./replaced.ts"
import { threadShareOperations } from "./shares-contract.ts"

/** Public links to conversations. */
export const threadLinks: LinkTarget<ShareThread, ThreadShareSummary, ChatShare, ChatThread> = {
  name: "conversation",
  path: "/share/chat",
  tooMany: "too-many-conversation-links",
  things: chatThreads,
  links: chatShares,
  of: chatShares.threadId,
  valuesOf: async (scope, { _id, title }, { shows }) => ({
    threadId: _id,
    ...(shows === "copy" && { title, messageIds: await listEnded(scope, _id) }),
  }),
  rowOf: threadShareSummary,
  afterRevoking: forgetReplies,
}

/** The ids of a conversation's messages, without a reply that is being generated. */
async function listEnded(scope: Scope<"db" | "viewer">, threadId: string): Promise<string[]> {
  const messages = await scope.db
    .select({ _id: chatMessages._id, status: chatTurns.status })
    .from(chatMessages)
    .leftJoin(chatTurns, eq(chatTurns._id, chatMessages._id))
    .where(readableMessages(scope, threadId))
    .orderBy(asc(chatMessages._id))
  return messages.filter(({ status }) => status !== "running").map(({ _id }) => _id)
}

/** A link as its owner sees it: without its hashes, and without what it shows. */
export function threadShareSummary({
  threadId,
  title,
  ...link
}: Omit<ChatShare, "userId" | "tokenHash" | "spaceKey" | "messageIds">): ThreadShareSummary {
  return { ...linkRowOf(link), threadId, shows: title === null ? "live" : "copy" }
}

export const threadShareFunctions = implement(threadShareOperations, {
  listShares: (scope, { threadId }) => listLinks(scope, threadLinks, threadId),
  share: (scope, { threadId, ...limits }) => createLink(scope, threadLinks, threadId, limits),
  revokeShare: (scope, { shareId }) => revokeLink(scope, threadLinks, shareId),
})
