import { setTimeout as wait } from "node:timers/promises"
import { and, eq, sql, type SQL } from "drizzle-orm"
import { chatTurns } from "#db/schema/chat.ts"
import type { Scope } from "#server/scope.ts"
import { mayEdit } from "#server/spaces/access.ts"
import { requireEditableThread } from "./access.ts"

/** Announced to every process when a reply is to end; the text is the reply's id. */
export const STOP_TOPIC = "chat.stop"

/** Milliseconds: enough to find and end a reply whose process has died. */
const LONGEST_WAIT = 10_000

export type StopScope = Scope<"db" | "viewer" | "turns" | "announce" | "afterCommit">

/**
 * Stops the reply in progress in a conversation, whichever process generates it, and keeps its text
 * so far. Resolves with true when it has ended, with false if there was none. Throws NotFound, and
 * Forbidden for a conversation that the viewer may only read.
 */
export async function stopReply(scope: StopScope, id: string): Promise<boolean> {
  const answerId = await requestStop(scope, id)
  if (answerId !== null) await untilOver(scope, answerId)
  return answerId !== null
}

/**
 * Asks the reply in progress in a conversation to end; if `db` is a transaction, at its commit.
 * Resolves with the reply's id, or null if there is none in progress. Throws as `stopReply` does.
 * Idempotent.
 */
export async function requestStop(scope: StopScope, threadId: string): Promise<string | null> {
  await requireEditableThread(scope, threadId)
  return stopTurn(scope, threadId)
}

/**
 * Tells the process that generates the reply in a conversation to end it, as `requestStop` does, if
 * the viewer may change the conversation. It may be in the trash.
 */
export async function stopTurn(scope: StopScope, threadId: string): Promise<string | null> {
  const { turns, afterCommit } = scope
  const which = and(mayEdit(scope, chatTurns), eq(chatTurns.threadId, threadId))
  const turn = await announceStop(scope, which)
  if (!turn) return null
  await afterCommit(async () => void turns.stop(turn._id))
  return turn._id
}

/**
 * The same for an operator, with anyone's reply. Resolves with its owner, or null if it is not in
 * progress.
 */
export async function requestStopOfReply(
  scope: Scope<"db" | "announce">,
  answerId: string,
): Promise<{ userId: string } | null> {
  return announceStop(scope, eq(chatTurns._id, answerId))
}

/** Stops the reply that `which` selects, and resolves when it has ended, or immediately without one. */
export async function stopAmong(scope: StopScope, which: SQL | undefined): Promise<void> {
  const turn = await announceStop(scope, which)
  if (turn) await untilOver(scope, turn._id)
}

async function announceStop({ db, announce }: Scope<"db" | "announce">, which: SQL | undefined) {
  const [turn] = await db
    .update(chatTurns)
    .set({ stopRequestedAt: sql`coalesce(${chatTurns.stopRequestedAt}, ${Date.now()})` })
    .where(and(which, eq(chatTurns.status, "running")))
    .returning({ _id: chatTurns._id, userId: chatTurns.userId })
  if (turn) await announce(db, STOP_TOPIC, turn._id)
  return turn ?? null
}

async function untilOver({ db, turns }: Scope<"db" | "turns">, answerId: string) {
  const deadline = Date.now() + LONGEST_WAIT
  const timer = new AbortController()
  await Promise.race([
    turns.stop(answerId),
    wait(LONGEST_WAIT, null, { signal: timer.signal }).catch(() => {}),
  ])
  timer.abort()
  while (Date.now() < deadline) {
    const [turn] = await db
      .select({ status: chatTurns.status })
      .from(chatTurns)
      .where(eq(chatTurns._id, answerId))
    if (turn?.status !== "running") return
    await wait(100)
  }
}
