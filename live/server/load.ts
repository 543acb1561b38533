import type { Catalogue } from "./catalogue.ts"
import type { Loaded, LiveRow } from "../protocol/contract.ts"
import { projectRow } from "./edits.ts"
import { sealResumeToken } from "./resume-token.ts"
import type { Hub } from "./hub.ts"
import { lsnToWire } from "./lsn.ts"
import type { Metrics } from "./metrics.ts"
import { finishPage } from "./page.ts"
import type { Range } from "./range.ts"
import { createRefusal, Refused } from "./refusal.ts"
import { affects } from "./resume.ts"
import type { Ring } from "./ring.ts"
import type { Snapshot, SnapshotReader, Snapshots } from "./snapshot.ts"
import type { Tuple } from "./tables.ts"
import type { Transaction } from "./transactions.ts"

export interface LoadOptions {
  readonly hub: Hub
  readonly ring: Ring
  readonly snapshots: Pick<Snapshots, "take">
  readonly catalogue: Catalogue
  readonly metrics: Metrics
  readonly secret: string
}

export interface Question {
  readonly query: string
  readonly args: unknown
}

/** Rows with the tokens from which a browser continues, one for each query. Throws `Refused`. */
export type Load = (questions: readonly Question[], viewer: unknown, userId: string) => Promise<Loaded[]>

/** More would only queue on one connection. */
const LOADS_AT_ONCE = 8

/** Milliseconds until a snapshot may show what the stream has delivered already, and how often. */
const PAUSE = 5
const ATTEMPTS = 200

interface Waiting {
  asked: Asked[]
  viewer: unknown
  userId: string
  answer: PromiseWithResolvers<Loaded[]>
}

type Asked = ReturnType<Catalogue["ask"]> & { question: Question }

/**
 * Reads queries in snapshots. Requests of the same tick, such as the loaders of one page, share a
 * snapshot, and a range that several request is read once. It never waits for the stream: the
 * tokens name an early enough position, and replaying a commit that the rows already include
 * changes nothing.
 */
export function openLoads(options: LoadOptions): Load {
  const { snapshots, catalogue, metrics } = options
  let waiting: Waiting[] = []

  return async (questions, viewer, userId) => {
    const asked = questions.map((question) => ({ question, ...catalogue.ask(question, viewer) }))
    const answer = Promise.withResolvers<Loaded[]>()
    waiting.push({ asked, viewer, userId, answer })
    if (waiting.length === 1) setImmediate(readWaiting)
    return answer.promise
  }

  function readWaiting() {
    const calls = waiting
    waiting = []
    for (let first = 0; first < calls.length; first += LOADS_AT_ONCE)
      void readTogether(calls.slice(first, first + LOADS_AT_ONCE))
  }

  async function readTogether(calls: readonly Waiting[], attempt = 1): Promise<void> {
    try {
      const snapshot = await snapshots.take(async (reader) => {
        const rowsOf = readOnce(reader)
        return Promise.all(calls.map((call) => readCall(call, reader, rowsOf)))
      })
      const missing = snapshot.missing()
      const place = placeOf(options, snapshot, missing)
      for (const [index, call] of calls.entries()) {
        const { asked, userId, answer } = call
        const read = snapshot.value[index] ?? []
        if (read instanceof Refused) {
          if (attempt < ATTEMPTS && isEarly(call, missing)) readAgain(call, attempt + 1)
          else answer.reject(read)
        } else answer.resolve(asked.map((each, at) => toLoaded(options, each, read[at] ?? [], place, userId)))
      }
    } catch (error) {
      // A failing statement aborts the transaction, and with it the other requests.
      if (calls.length > 1) for (const call of calls) void readTogether([call], attempt)
      else calls[0]?.answer.reject(error)
    }
  }

  function readAgain(call: Waiting, attempt: number): void {
    metrics.count("snapshots_repeated")
    setTimeout(() => void readTogether([call], attempt), PAUSE)
  }
}

/** Whether the stream has delivered a change of rights that the snapshot does not show. */
function isEarly({ asked }: Waiting, missing: readonly Transaction[] | null): boolean {
  const places = asked.flatMap(({ dependencies }) => dependencies)
  return (missing ?? []).some((transaction) => places.some((place) => affects(transaction, place)))
}

/** A refusal concerns only its own request, so it is a value here. */
async function readCall(
  { asked, viewer }: Waiting,
  reader: SnapshotReader,
  rowsOf: (range: Range) => Promise<Tuple[]>,
): Promise<Tuple[][] | Refused> {
  try {
    return await Promise.all(
      asked.map(async ({ authorize, args, range }) => {
        const [allowed, rows] = await Promise.all([
          authorize?.(viewer, args, reader.sql) ?? true,
          rowsOf(range),
        ])
        if (!allowed) throw createRefusal("not_found", "not-there")
        return rows
      }),
    )
  } catch (error) {
    if (error instanceof Refused) return error
    throw error
  }
}

function readOnce(reader: SnapshotReader) {
  const known = new Map<string, Promise<Tuple[]>>()
  return (range: Range) => {
    const rows = known.get(range.identity) ?? reader.rows(range)
    known.set(range.identity, rows)
    return rows
  }
}

/**
 * Where the stream continues after a snapshot; null if it cannot, so that the browser reads again.
 */
function placeOf(
  { hub, ring }: LoadOptions,
  snapshot: Snapshot<unknown>,
  missing: readonly Transaction[] | null,
) {
  const lsn = missing?.[0]?.start ?? ring.end
  const epoch = hub.epoch()
  snapshot.release()
  return epoch !== "" && missing !== null ? { epoch, lsn, through: snapshot.lsn } : null
}

function toLoaded(
  { secret }: LoadOptions,
  { question, query, range }: Asked,
  read: Tuple[],
  place: ReturnType<typeof placeOf>,
  userId: string,
): Loaded {
  const page = finishPage(range, read, [], new Map())
  // A projection keeps `_id`, as its declaration promises.
  const rows = page.rows.map(
    (row) => projectRow(query, range.table, row) as Record<string, unknown> & LiveRow,
  )
  const loaded: Loaded = { query: query.name, args: question.args, rows, order: page.order, end: page.end }
  if (place) {
    const token = sealResumeToken(secret, userId, range, { ...place, end: page.range.end })
    loaded.have = { token, position: { epoch: place.epoch, lsn: lsnToWire(place.lsn) } }
  }
  return loaded
}
