import { and, eq } from "drizzle-orm"
import { chatChunks, chatMessages, chatTurns, type ChatThread, type ChatTurn } from "#db/schema/chat.ts"
import type { LiveRow } from "#live/contract"
import { Conflict } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { mayRead } from "#server/spaces/access.ts"
import { beginFold, type ReplyChunk, type LiveChunk } from "./contract.ts"
import type { LiveTurn } from "./read-operations.ts"
import { writeFailure } from "./failure-contract.ts"
import { liveChunks, liveTurns } from "./live.ts"
import { noteRead, readPersonally, type ReadReply } from "./left-replies.ts"
import { outcome } from "./messages.ts"
import { openQueue, type Queue } from "./queue.ts"
import { createPartStreamer, endChunks, startChunks, stopChunks } from "./reply-chunks.ts"
import { findThread } from "./threads.ts"

type ResumeScope = Scope<"db" | "viewer" | "turns" | "live" | "log">

/** How many streams of one person may follow replies in this process. */
const FOLLOWED_AT_ONCE = 10

/**
 * The reply in progress in a conversation, from its first word and then as its rows arrive,
 * whichever process generates it. Null if there is none. Throws NotFound, and Conflict if the viewer
 * follows too many.
 */
export async function resumeReply(scope: ResumeScope, threadId: string): Promise<ReadReply | null> {
  const { spaceId } = await findThread(scope, threadId)
  const [turn] = await scope.db
    .select({ _id: chatTurns._id, model: chatTurns.model, questionId: chatTurns.questionId })
    .from(chatTurns)
    .where(and(eq(chatTurns.threadId, threadId), eq(chatTurns.status, "running")))
  if (!turn) return null
  if (spaceId === null) await noteRead(scope, turn._id)
  const exit = scope.turns.enterAlone(`follows ${scope.viewer.user._id}`, FOLLOWED_AT_ONCE)
  if (!exit) throw new Conflict("too-many-streams", { most: FOLLOWED_AT_ONCE })

  const followed = followReply(scope, { ...turn, threadId, spaceId }, exit)
  return spaceId === null ? readPersonally(scope, turn._id, followed) : followed
}

/**
 * The same for a reply whose id is known. It ends when the viewer may no longer see the
 * conversation; no text committed after that is sent. `ended` is called at its end.
 */
export function followReply(scope: ResumeScope, turn: FollowedTurn, ended?: () => void): ReadReply {
  const chunks = openQueue<ReplyChunk>()
  let isLeft = false
  const leave = () => {
    if (isLeft) return
    isLeft = true
    unfollow()
    ended?.()
    chunks.end()
  }
  const unfollow = followTurn(scope, turn, chunks, leave)
  return { chunks, leave }
}

type FollowedTurn = Pick<ChatTurn, "_id" | "threadId" | "model" | "questionId"> & Pick<ChatThread, "spaceId">

/** Calls `end` after the last chunk. Returns a function that stops following. */
function followTurn(
  scope: ResumeScope,
  { _id, threadId, spaceId, model, questionId }: FollowedTurn,
  chunks: Queue<ReplyChunk>,
  end: () => void,
): () => void {
  const fold = beginFold()
  const parts = createPartStreamer()
  let seen = -1
  let checking: "no" | "yes" | "again" = "no"
  send(startChunks(_id, { model, questionId }))

  const { viewer } = scope
  const options = { viewer, refused: () => void check() }
  const args = { threadId, spaceId: spaceId ?? undefined }
  const stops = [
    scope.live.follow({ query: liveChunks.name, args }, onChunks, options),
    scope.live.follow({ query: liveTurns.name, args }, hearTurns, options),
  ]
  return () => stops.forEach((stop) => stop())

  /**
   * The end of a turn deletes its chunks: those not in the list were already sent or are part of
   * the stored reply.
   */
  function onChunks(rows: readonly LiveRow[]) {
    // The engine returns the rows of the named query.
    addChunks((rows as readonly LiveChunk[]).filter(({ turnId }) => turnId === _id))
  }

  function hearTurns(rows: readonly LiveRow[]) {
    const turn = (rows as readonly LiveTurn[]).find((each) => each._id === _id)
    if (turn?.status !== "running") void check()
  }

  function addChunks(rows: readonly Pick<LiveChunk, "seq" | "delta">[]) {
    for (const { seq, delta } of rows.toSorted((one, other) => one.seq - other.seq)) {
      if (seq <= seen) continue
      delta.forEach(fold.add)
      seen = seq
    }
    send(parts.next(fold.read(), { isWhole: false }))
  }

  /**
   * Reads the turn from the database: its end, and the text written while its rows could not be
   * followed.
   */
  async function check() {
    const isBusy = checking !== "no"
    checking = isBusy ? "again" : "yes"
    if (isBusy) return
    try {
      while (await isRunning()) {
        if (checking === "yes") return
        checking = "yes"
      }
    } catch (error) {
      scope.log.warn({ err: error, answer: _id }, "could not read a reply that is being followed")
      chunks.add({ type: "error", errorText: writeFailure("conversation-unread") })
    } finally {
      checking = "no"
    }
    end()
  }

  /** Sends what is new, and the end of a turn that has ended. */
  async function isRunning(): Promise<boolean> {
    const state = await readTurn(scope, _id)
    if (state?.status === "running") {
      addChunks(await readChunks(scope, _id))
      return true
    }
    if (state) {
      send(parts.next(state, { isWhole: true }))
      send(endChunks(state))
    } else send(stopChunks("stopped")) // generated again, deleted, or no longer the viewer's to see
    return false
  }

  function send(more: Iterable<ReplyChunk>) {
    for (const chunk of more) chunks.add(chunk)
  }
}

/**
 * The lock waits for a commit whose rows have been announced but are not visible to other
 * transactions yet.
 */
async function readTurn(scope: ResumeScope, turnId: string) {
  const [turn] = await scope.db
    .select({ ...outcome, content: chatMessages.content })
    .from(chatTurns)
    .innerJoin(chatMessages, eq(chatMessages._id, chatTurns._id))
    .where(and(mayRead(scope, chatTurns), eq(chatTurns._id, turnId)))
    .for("share")
  return turn
}

function readChunks(scope: ResumeScope, turnId: string) {
  return scope.db
    .select({ seq: chatChunks.seq, delta: chatChunks.delta })
    .from(chatChunks)
    .where(and(mayRead(scope, chatChunks), eq(chatChunks.turnId, turnId)))
}
