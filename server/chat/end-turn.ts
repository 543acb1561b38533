import { setTimeout as wait } from "node:timers/promises"
import { and, eq, sql } from "drizzle-orm"
import type { Database, Transaction } from "#db/client.ts"
import { isOutage } from "#live/check"
import { chatChunks, chatMessages, chatTurns } from "#db/schema/chat.ts"
import { createFailureLog } from "#server/log.ts"
import type { Scope } from "#server/scope.ts"
import type { EndedReply } from "./reply-record.ts"
import { foldChunks } from "./contract.ts"

/** Milliseconds: the longest pause between two attempts. */
const LONGEST_PAUSE = 5000

/** How often the database may refuse a reply: a refusal may be permanent, unlike an outage. */
const REFUSALS = 4

/**
 * Stores the end of a turn that this process ran: in one commit its text replaces its chunks.
 * Retries for as long as PostgreSQL is unreachable and the process runs; `held` is called when the
 * first attempt failed. A turn that another process has ended in the meantime is still completed,
 * unless it was started again. Throws what the last attempt threw.
 */
export async function endTurn(
  { db, turns }: Scope<"db" | "turns">,
  answerId: string,
  answer: EndedReply,
  held: () => void,
): Promise<void> {
  let refusals = 0
  const failures = createFailureLog(turns.log, "the reply is stored now")
  for (let tries = 1; ; tries++) {
    // The parts come from the model's tools and may be something that a JSON column refuses. The
    // text matters more.
    const end = refusals === REFUSALS - 1 ? { ...answer, parts: null } : answer
    try {
      await storeEnd(db, turns.process, answerId, end)
      turns.countEnd(end.status)
      failures.succeeded()
      return
    } catch (error) {
      if (!isOutage(error)) refusals++
      if (turns.closing.aborted || refusals === REFUSALS) throw error
      failures.failed("warn", error, "could not store a reply; will try again", { answer: answerId })
      held()
      await wait(Math.min(100 * 2 ** tries, LONGEST_PAUSE), null, { signal: turns.closing }).catch(() => {})
    }
  }
}

function storeEnd(db: Database, process: number, answerId: string, end: EndedReply) {
  return db.transaction(async (tx) => {
    await lockReply(tx, answerId)
    await tx.execute(sql`
      with ended as (
        update ${chatTurns} set
          status = ${end.status}, parts = ${end.parts && JSON.stringify(end.parts)}::jsonb, failure = ${end.failure},
          input_tokens = ${end.inputTokens}, output_tokens = ${end.outputTokens},
          finish_reason = ${end.finishReason},
          recall = ${end.recall && JSON.stringify(end.recall)}::jsonb, ended_at = ${Date.now()}::bigint
        where _id = ${answerId}
          and (status = 'running' or (status in ('interrupted', 'stopped') and process = ${process}))
        returning _id
      ), said as (
        update ${chatMessages} as message set content = ${end.content} from ended where message._id = ended._id
      )
      delete from ${chatChunks} where turn_id in (select _id from ended)`)
  })
}

/**
 * Ends a turn that no process runs any more, with the text that was stored. A turn that has already
 * ended stays unchanged.
 */
export async function endAbandonedTurn(tx: Transaction, answerId: string): Promise<void> {
  await lockReply(tx, answerId)
  const [turn] = await tx
    .select({ stopRequestedAt: chatTurns.stopRequestedAt })
    .from(chatTurns)
    .where(and(eq(chatTurns._id, answerId), eq(chatTurns.status, "running")))
  if (!turn) return
  const chunks = await tx
    .select({ seq: chatChunks.seq, delta: chatChunks.delta })
    .from(chatChunks)
    .where(eq(chatChunks.turnId, answerId))
  const { content, parts } = foldChunks(chunks)
  const status = turn.stopRequestedAt === null ? "interrupted" : "stopped"
  await tx.update(chatTurns).set({ status, parts, endedAt: Date.now() }).where(eq(chatTurns._id, answerId))
  // If there are no chunks, the version that ran the turn wrote the text directly into the message.
  if (chunks.length > 0) await moveWords(tx, answerId, content)
}

/**
 * The message is locked before its turn, the order in which a removed message takes its reply and
 * turn with it. Until both are locked, chunks may be added; what follows sees all of them.
 */
async function lockReply(tx: Transaction, answerId: string) {
  await tx.execute(sql`
    select from ${chatMessages} join ${chatTurns} on ${chatTurns._id} = ${chatMessages._id}
    where ${chatMessages._id} = ${answerId}
    for update`)
}

async function moveWords(tx: Transaction, answerId: string, content: string) {
  await tx.update(chatMessages).set({ content }).where(eq(chatMessages._id, answerId))
  await tx.delete(chatChunks).where(eq(chatChunks.turnId, answerId))
}
