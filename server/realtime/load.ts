import type { Catalogue } from "./catalogue.ts"
import type { Loaded, LiveRow } from "./contract.ts"
import { projectRow } from "./edits.ts"
import { sealHave } from "./have.ts"
import type { Hub } from "./hub.ts"
import { lsnToWire } from "./lsn.ts"
import { finishPage } from "./page.ts"
import { Refused } from "./refusal.ts"
import type { Ring } from "./ring.ts"
import type { Snapshots } from "./snapshot.ts"

export interface LoadOptions {
  readonly hub: Hub
  readonly ring: Ring
  readonly snapshots: Snapshots
  readonly catalogue: Catalogue
  readonly secret: string
}

export interface Question {
  readonly query: string
  readonly args: unknown
}

/**
 * Reads several queries in one snapshot, each with the token from which a browser goes on. It never waits for the stream: the token names a place
 * that is early enough, and repeating a commit that the rows already show changes nothing. Throws `Refused`.
 */
export async function load(
  { hub, ring, snapshots, catalogue, secret }: LoadOptions,
  questions: readonly Question[],
  viewer: unknown,
  userId: string,
): Promise<Loaded[]> {
  const asked = questions.map((question) => ({ question, ...catalogue.ask(question, viewer) }))
  const snapshot = await snapshots.take((reader) =>
    Promise.all(
      asked.map(async ({ query, args, range }) => {
        const [allowed, rows] = await Promise.all([
          query.authorize?.(viewer, args, reader.sql) ?? true,
          reader.rows(range),
        ])
        if (!allowed) throw new Refused("not_found", "It does not exist, or it is not yours.")
        return rows
      }),
    ),
  )
  const missing = snapshot.missing()
  const first = missing?.[0]
  const lsn = first ? first.start : ring.end
  const epoch = hub.epoch()
  snapshot.release()
  return asked.map(({ question, query, range }, index): Loaded => {
    const page = finishPage(range, snapshot.value[index] ?? [], [], new Map())
    // A projection keeps `_id`, as its declaration promises.
    const rows = page.rows.map(
      (row) => projectRow(query, range.table, row) as Record<string, unknown> & LiveRow,
    )
    const loaded: Loaded = { query: query.name, args: question.args, rows, order: page.order, end: page.end }
    if (epoch !== "" && missing !== null) {
      const token = sealHave(secret, userId, range, {
        epoch,
        lsn,
        through: snapshot.lsn,
        end: page.range.end,
      })
      loaded.have = { token, position: { epoch, lsn: lsnToWire(lsn) } }
    }
    return loaded
  })
}
