import { sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { chatChunks, chatTurns, type ReplyDelta } from "#db/schema/chat.ts"
import { isOutage } from "#live/check"
import { createFailureLog, type Log } from "#server/log.ts"

/**
 * Milliseconds between receiving text and starting the write that stores it. Together with the up
 * to 100 ms for which text is collected before, and the write itself, that is a quarter of a
 * second.
 */
const TICK = 140

interface Source {
  turnId: string
  drain: () => ReplyDelta[]
  seq: number
  /** Sent, but perhaps not stored: it is sent again unchanged, so that it is stored once. */
  unsaved: Row | null
  isOpen: boolean
}

interface Row {
  turn: string
  seq: number
  delta: ReplyDelta[]
}

export type ChunkWriter = ReturnType<typeof createChunkWriter>

/**
 * Writes this process's growing replies: the first text of each immediately, and after that
 * everything new in one statement per tick, one statement at a time. What could not be written is
 * written by a later tick.
 */
export function createChunkWriter({ db, log }: { db: Database; log: Log }) {
  const failures = createFailureLog(log, "partial replies can be stored again")
  const grown = new Set<Source>()
  const fresh = new Set<Source>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing = Promise.resolve()

  return {
    /** Writes what `drain` returns, for as long as the turn runs. */
    open(turnId: string, drain: Source["drain"]) {
      const source: Source = { turnId, drain, seq: 0, unsaved: null, isOpen: true }
      let begun = false
      return {
        /** There is more to drain. */
        grew() {
          if (begun) return wait(source)
          begun = true
          fresh.add(source)
          if (fresh.size === 1) writing = writing.then(() => write(fresh))
        },
        /**
         * Stops writing. A write that is still running stores nothing if the turn has ended in the
         * meantime.
         */
        close() {
          source.isOpen = false
          fresh.delete(source)
          grown.delete(source)
        },
      }
    },
  }

  /** For the next tick. */
  function wait(source: Source) {
    if (!source.isOpen) return
    grown.add(source)
    timer ??= setTimeout(tick, TICK)
  }

  function tick() {
    writing = writing.then(() => {
      timer = undefined
      return write(grown)
    })
  }

  function write(waiting: Set<Source>): Promise<void> {
    const sources = [...waiting]
    waiting.clear()
    for (const source of sources) {
      if (source.unsaved) {
        wait(source) // for what was said since
        continue
      }
      const delta = source.drain()
      if (delta.length > 0) source.unsaved = { turn: source.turnId, seq: source.seq++, delta }
    }
    return store(sources)
  }

  async function store(sources: Source[]): Promise<void> {
    const rows = sources.flatMap(({ unsaved }) => unsaved ?? [])
    if (rows.length === 0) return
    try {
      await insert(rows)
      failures.succeeded()
      for (const source of sources) source.unsaved = null
    } catch (error) {
      if (isOutage(error)) return tryLater(sources, error)
      // A chunk that cannot be stored must not hold up the others.
      if (sources.length > 1) for (const source of sources) await store([source])
      else tryLater(sources, error)
    }
  }

  function tryLater(sources: Source[], error: unknown) {
    failures.failed("warn", error, "could not store partial replies; the next write will try again")
    for (const source of sources) wait(source)
  }

  /**
   * The locks keep a concurrent end of the turn, in this process or another, from leaving chunks
   * behind.
   */
  async function insert(rows: Row[]) {
    await db.execute(sql`
      insert into ${chatChunks} (user_id, thread_id, space_key, turn_id, seq, delta)
      select turn.user_id, turn.thread_id, turn.space_key, turn._id, said.seq, said.delta
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as said (turn uuid, seq integer, delta jsonb)
      join ${chatTurns} as turn on turn._id = said.turn and turn.status = 'running'
      order by turn._id
      for share of turn
      on conflict (turn_id, seq) do nothing`)
  }
}
