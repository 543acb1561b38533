import { setTimeout as wait } from "node:timers/promises"
import { and, eq, sql } from "drizzle-orm"
import type { Database, Transaction } from "#db/client.ts"
import { isOutage } from "#db/outage.ts"
import { chatChunks, chatMessages, chatTurns } from "#db/schema/chat.ts"
import { createFailureLog } from "#server/log.ts"
import type { Scope } from "#server/scope.ts"
import type { EndedReply } from "./reply-record.ts"
import { foldChunks } from "./contract.ts"

/** Milliseconds: the longest pause between two tries. */
const LONGEST_PAUSE = 5000

/** As often may the database refuse an answer: that may stay for ever, unlike an outage. */
const REFUSALS = 4

/**
 * Stores the end of a turn that this process ran: its words take the place of their pieces in one
 * commit. Tried again for as long as PostgreSQL is away and the process stays; `held` is called
 * when the first try failed. A turn that another process has given up in the meantime is completed
 * all the same, unless it was asked again. Throws what the last try threw.
 */
export async function endTurn(
  { db, log, turns }: Scope<"db" | "log" | "turns">,
  answerId: string,
  answer: EndedReply,
  held: () => void,
): Promise<void> {
  let refusals = 0
  const failures = createFailureLog(log, "an answer that had to wait is stored")
  for (let tries = 1; ; tries++) {
    // The parts come from the model's tools and may be what a JSON column refuses. The words are
    // worth more.
    const end = refusals === REFUSALS - 1 ? { ...answer, parts: null } : answer
    try {
      await storeEnd(db, turns.process, answerId, end)
      turns.countEnd(end.status)
      failures.succeeded()
      return
    } catch (error) {
      if (!isOutage(error)) refusals++
      if (turns.closing.aborted || refusals === REFUSALS) throw error
      failures.failed("warn", error, "an answer could not be stored yet", { answer: answerId })
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
          finish_reason = ${end.finishReason}, ended_at = ${Date.now()}::bigint
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
 * Ends a turn that nobody runs any more, with what was stored of its words. One that has ended
 * already stays as it is.
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
  // Without pieces, the version that ran it wrote the words into the message as they came.
  if (chunks.length > 0) await moveWords(tx, answerId, content)
}

/**
 * Its message before its turn: taking a question back removes its reply's message first, and its
 * turn with it. Until the locks are held, pieces may be added; what is done after sees them all.
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
