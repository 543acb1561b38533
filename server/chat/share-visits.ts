import { eq, inArray } from "drizzle-orm"
import { chatMessages, chatReplacedMessages, type ChatShare } from "#db/schema/chat.ts"
import { findLink, isOpen } from "#server/links/visits.ts"
import type { Scope } from "#server/scope.ts"
import type { SharedConversation, SharedMessage } from "./contract.ts"
import { readAmong } from "./messages.ts"
import type { Entry } from "./read-operations.ts"
import { threadLinks } from "./shares.ts"

/** Messages of a page. */
const PAGE = 100

/**
 * What a link's visitor may see: the conversation, or only that it needs a password. Throws
 * `NoSuchLink`.
 */
export async function visitThreadShare(
  scope: Scope<"db" | "config">,
  token: string,
  { request, before }: { request: Request; before: string | undefined },
): Promise<SharedConversation> {
  const { link, thing, owner } = await findLink(scope, threadLinks, token, request)
  if (!isOpen(scope, link, request)) return { sharedBy: owner.name, conversation: null }
  const { messageIds, expiresAt } = link
  const page = messageIds
    ? await readCopy(scope, messageIds, before)
    : await readLive(scope, thing._id, before)
  const title = link.title ?? thing.title
  return { sharedBy: owner.name, conversation: { title, expiresAt, isLive: messageIds === null, ...page } }
}

type Page = Pick<NonNullable<SharedConversation["conversation"]>, "messages" | "earlierCursor">

async function readLive(scope: Scope<"db">, threadId: string, before: string | undefined): Promise<Page> {
  const place = eq(chatMessages.threadId, threadId)
  const { entries, earlierCursor } = await readAmong(place, scope, { cursor: before, limit: PAGE })
  return { messages: entries.map(asShared), earlierCursor }
}

/** By their ids: one that was edited or generated again since is among the replaced ones. */
async function readCopy(
  { db }: Scope<"db">,
  messageIds: NonNullable<ChatShare["messageIds"]>,
  before: string | undefined,
): Promise<Page> {
  const at = before === undefined ? -1 : messageIds.indexOf(before)
  const end = at < 0 ? messageIds : messageIds.slice(0, at)
  const ids = end.slice(-PAGE)
  const places = new Map(ids.map((id, place) => [id, place]))
  const found = await Promise.all(
    [chatMessages, chatReplacedMessages].map((table) =>
      db
        .select({
          _id: table._id,
          _creationTime: table._creationTime,
          role: table.role,
          content: table.content,
          attachments: table.attachments,
        })
        .from(table)
        .where(inArray(table._id, ids)),
    ),
  )
  const messages = found
    .flat()
    .map((message) => asShared({ ...message, turn: null }))
    .toSorted((one, other) => (places.get(one._id) ?? 0) - (places.get(other._id) ?? 0))
  return { messages, earlierCursor: end.length > PAGE ? (ids[0] ?? null) : null }
}

function asShared({
  _id,
  _creationTime,
  role,
  content,
  attachments,
  turn,
}: Pick<Entry, "_id" | "_creationTime" | "role" | "content" | "attachments"> & {
  turn: Pick<NonNullable<Entry["turn"]>, "status"> | null
}): SharedMessage {
  const files = (attachments ?? []).map(({ fileName }) => fileName)
  return { _id, _creationTime, role, content, files, isGrowing: turn?.status === "running" }
}
