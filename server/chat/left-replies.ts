import { setTimeout as wait } from "node:timers/promises"
import { and, eq, isNotNull, isNull, type SQL } from "drizzle-orm"
import { chatTurns } from "#db/schema/chat.ts"
import { PERSONAL } from "#db/schema/spaces.ts"
import { isRefusal } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import type { ReplyChunk } from "./contract.ts"
import type { SentMessage } from "./resent.ts"
import { stopAmong, type StopScope } from "./stop.ts"

type ReadScope = Scope<"db" | "viewer" | "turns" | "log">

export interface ReadReply {
  chunks: AsyncIterable<ReplyChunk>
  /** The reader has closed the stream before its end. */
  leave(): void
}

/**
 * A client that stops a reply only closes its stream of it. When the last of its author's streams
 * of a reply is closed before the end, that is noted with the turn: the reply goes on, because the
 * page may have been reloaded, but it does not hold up its author's next message. Members of a space
 * may all be reading a reply, so there it does.
 */
export function readPersonally(
  scope: ReadScope,
  answerId: string,
  reply: Pick<ReadReply, "chunks"> & { leave?: () => void },
): ReadReply {
  const key = `reads ${answerId}`
  const enter = scope.turns.enterAlone(key, Infinity)
  let isOpen = true
  const exit = () => {
    if (isOpen) enter?.()
    isOpen = false
  }
  return {
    chunks: untilEnd(reply.chunks, exit),
    leave() {
      reply.leave?.()
      exit()
      const isFree = scope.turns.enterAlone(key, 1)
      isFree?.()
      if (isFree) scope.turns.follow(() => noteLeft(scope, answerId))
    },
  }
}

/** Its author reads it again. */
export async function noteRead({ db, viewer }: Scope<"db" | "viewer">, answerId: string): Promise<void> {
  const own = and(eq(chatTurns._id, answerId), eq(chatTurns.userId, viewer.user._id))
  await db
    .update(chatTurns)
    .set({ leftAt: null })
    .where(and(own, isNotNull(chatTurns.leftAt)))
}

async function noteLeft({ db, viewer, log }: ReadScope, answerId: string): Promise<void> {
  try {
    await db
      .update(chatTurns)
      .set({ leftAt: Date.now() })
      .where(and(ownRunning({ viewer }), eq(chatTurns._id, answerId), isNull(chatTurns.leftAt)))
  } catch (error) {
    log.warn({ err: error, answer: answerId }, "could not note that a reply is not read any more")
  }
}

/**
 * Calls `open`, which stores a message. If it is refused because its author has left the reply that
 * is being generated, that reply is stopped, and `open` is called again. The message itself sent
 * again is no next message. `leavingTime`, in milliseconds, is for clients that send a message while
 * their closing of the stream is still on its way.
 */
export async function openAfterLeft<Opened>(
  scope: StopScope,
  { threadId, question, leavingTime }: { threadId: string; question: SentMessage; leavingTime: number },
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open()
  } catch (error) {
    if (!isRefusal(error) || error.reason !== "reply-running" || question.waitingId !== undefined) throw error
    const deadline = Date.now() + leavingTime
    for (;;) {
      const turn = await findRunning(scope, threadId)
      if (!turn) return open()
      const isSame = turn.requestId === question.requestId && !question.again && !question.cutsLater
      if (isSame || (turn.leftAt === null && Date.now() >= deadline)) throw error
      if (turn.leftAt !== null) {
        await stopAmong(scope, and(eq(chatTurns._id, turn._id), isNotNull(chatTurns.leftAt)))
        return open()
      }
      await wait(50)
    }
  }
}

async function findRunning({ db, viewer }: Scope<"db" | "viewer">, threadId: string) {
  const [turn] = await db
    .select({ _id: chatTurns._id, requestId: chatTurns.requestId, leftAt: chatTurns.leftAt })
    .from(chatTurns)
    .where(and(ownRunning({ viewer }), eq(chatTurns.threadId, threadId)))
  return turn
}

/** In a personal conversation. */
function ownRunning({ viewer }: Scope<"viewer">): SQL | undefined {
  return and(
    eq(chatTurns.userId, viewer.user._id),
    eq(chatTurns.spaceKey, PERSONAL),
    eq(chatTurns.status, "running"),
  )
}

/** Calls `ended` after the last chunk, or when nobody reads them any more. */
export async function* untilEnd<Chunk>(chunks: AsyncIterable<Chunk>, ended: () => void) {
  try {
    yield* chunks
  } finally {
    ended()
  }
}
