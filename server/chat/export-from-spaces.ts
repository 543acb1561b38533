import { and, asc, eq, gt, ne } from "drizzle-orm"
import { chatMessages, chatReplacedMessages, chatThreads } from "#db/schema/chat.ts"
import { PERSONAL } from "#db/schema/spaces.ts"
import { eachRow } from "#server/each-row.ts"
import type { Scope } from "#server/scope.ts"
import { LARGE_ROWS } from "./messages.ts"

/**
 * What the viewer wrote in spaces, as JSON, also where they are no longer a member: the words are
 * theirs. Replies, titles and what others wrote are not. Null if there is nothing.
 */
export async function exportFromSpaces(scope: Scope<"db" | "viewer">): Promise<AsyncIterable<string> | null> {
  const rows = ownMessages(scope)
  const first = await rows.next()
  return first.done ? null : asJson(first.value, rows)
}

type Message = Awaited<ReturnType<typeof readPage>>[number]

async function* ownMessages(scope: Scope<"db" | "viewer">): AsyncGenerator<Message> {
  for (const table of [chatMessages, chatReplacedMessages])
    yield* eachRow((after, most) => readPage(scope, table, after, most), LARGE_ROWS)
}

function readPage(
  { db, viewer }: Scope<"db" | "viewer">,
  table: typeof chatMessages | typeof chatReplacedMessages,
  after: string | undefined,
  most: number,
) {
  return db
    .select({
      _id: table._id,
      _creationTime: table._creationTime,
      spaceId: chatThreads.spaceId,
      threadId: table.threadId,
      content: table.content,
      attachments: table.attachments,
    })
    .from(table)
    .innerJoin(chatThreads, eq(chatThreads._id, table.threadId))
    .where(
      and(
        eq(table.userId, viewer.user._id),
        eq(table.role, "user"),
        ne(chatThreads.spaceKey, PERSONAL),
        after === undefined ? undefined : gt(table._id, after),
      ),
    )
    .orderBy(asc(table._id))
    .limit(most)
}

async function* asJson(first: Message, others: AsyncGenerator<Message>): AsyncGenerator<string> {
  yield `[\n${JSON.stringify(first)}`
  for await (const message of others) yield `,\n${JSON.stringify(message)}`
  yield "\n]\n"
}
