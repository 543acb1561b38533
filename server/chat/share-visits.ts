import { and, eq, inArray } from "drizzle-orm"
import {
  chatMessages,
  chatReplacedMessages,
  chatShares,
  chatThreads,
  type ChatShare,
} from "#db/schema/chat.ts"
import { users } from "#db/schema/users.ts"
import { hashLinkToken, isLinkToken } from "#server/links/token.ts"
import { isNotOver, isUnlocked, NoSuchLink, unlockLink, type Guess } from "#server/links/visits.ts"
import type { Scope } from "#server/scope.ts"
import { actAs } from "#server/users/act-as.ts"
import { readableThread } from "./access.ts"
import type { SharedConversation, SharedMessage } from "./contract.ts"
import type { Entry } from "./read-operations.ts"
import { readAmong } from "./messages.ts"
import { summary } from "./threads.ts"

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
  const { share, thread, owner } = await findThreadShare(scope, token)
  if (!isUnlocked(scope, share, request)) return { sharedBy: owner.name, conversation: null }
  const { messageIds } = share
  const page = messageIds
    ? await readCopy(scope, messageIds, before)
    : await readLive(scope, thread._id, before)
  const { expiresAt } = share
  const title = share.title ?? thread.title
  return { sharedBy: owner.name, conversation: { title, expiresAt, isLive: messageIds === null, ...page } }
}

/** As `unlockLink` does. Throws `NoSuchLink`. */
export async function unlockThreadShare(
  scope: Scope<"db" | "config"> & Parameters<typeof unlockLink>[0],
  token: string,
  guess: Guess,
) {
  const { share } = await findThreadShare(scope, token)
  return unlockLink(scope, { link: share, path: `/share/chat/${token}` }, guess)
}

/**
 * Throws `NoSuchLink`, also for a conversation in the trash, and for one in a space that the person
 * who created the link can no longer see.
 */
export async function findThreadShare({ db }: Scope<"db">, token: string) {
  if (!isLinkToken(token)) throw new NoSuchLink()
  const [found] = await db
    .select({ share: chatShares, thread: summary, owner: users })
    .from(chatShares)
    .innerJoin(chatThreads, eq(chatThreads._id, chatShares.threadId))
    .innerJoin(users, eq(users._id, chatShares.userId))
    .where(
      and(
        eq(chatShares.tokenHash, hashLinkToken(token)),
        eq(chatThreads.trashed, false),
        isNotOver(chatShares.expiresAt),
      ),
    )
  if (!found) throw new NoSuchLink()
  // A link lets its visitors read one conversation as the person who created it does.
  const viewer = actAs(found.owner)
  if (found.thread.spaceId !== null) {
    const [seen] = await db
      .select({ _id: chatThreads._id })
      .from(chatThreads)
      .where(readableThread({ db, viewer }, found.thread._id))
    if (!seen) throw new NoSuchLink()
  }
  return { ...found, viewer }
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
