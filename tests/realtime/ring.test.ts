import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Ring } from "../../live/server/ring.ts"
import { createShapes, keysTouched, type Shape } from "../../live/server/shapes.ts"
import { watchTable, type RowChange, type Tuple, type WatchedTable } from "../../live/server/tables.ts"
import type { Transaction } from "../../live/server/transactions.ts"
import { readVisibility } from "../../live/server/visibility.ts"
import { messages, threads } from "./support/tables.ts"

const inMessages = watchTable(messages)
const inThreads = watchTable(threads)
const NOTHING_YET = readVisibility("1:1:")

describe("data read back from a ring buffer", () => {
  it("is identical to what was written: texts of all scripts, empty ones, null, and values not transmitted", () => {
    fc.assert(
      fc.property(fc.array(fc.array(changeOf(), { maxLength: 4 }), { maxLength: 6 }), (commits) => {
        const ring = new Ring({ windowMs: 1e9, bytes: 1e9 }, 0n)
        const all = commits.map((changes, index) => transaction(index + 1, { changes }))
        for (const each of all) ring.append(each)
        expect(missing(ring)?.map(essence)).toEqual(all.map(essence))
      }),
    )
  })

  it("includes everything that a large transaction and a truncate have besides changes", () => {
    const ring = new Ring({ windowMs: 1e9, bytes: 1e9 }, 0n)
    const truncate = transaction(1, { truncated: new Set([inThreads]), changes: [arrival("a", "t")] })
    const large = transaction(2, { large: { tables: new Set([inMessages]), keys: new Map() } })
    ring.append(truncate)
    ring.append(large)
    expect(missing(ring)).toEqual([truncate, large])
    expect(ring.sweeping(truncate.end)).toEqual([large])
  })

  it("is complete even if one value is larger than the space for a thousand commits", () => {
    const ring = new Ring({ windowMs: 1e9, bytes: 1e9 }, 0n)
    const texts = ["short", "€".repeat(300_000), "after"]
    for (const [index, text] of texts.entries()) {
      ring.append(transaction(index + 1, { changes: [arrival("m", "t", text)] }))
    }
    const found = missing(ring)?.map(({ changes }) => changes[0]?.row?.[3])
    expect(found?.map((text) => text?.length)).toEqual([5, 300_000, 5])
    expect(found?.join() === texts.join()).toBe(true)
  })
})

describe("a ring buffer's index", () => {
  it("finds what affected a range, in order, after thousands of commits, a gap, and for late queries", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 9, arbitrary: someCommits() }, { weight: 1, arbitrary: aHole() }), {
          minLength: 1,
          maxLength: 8,
        }),
        (steps) => {
          let now = 0
          const ring = new Ring({ windowMs: 3000, bytes: 1e9 }, 0n, () => now)
          const shapes = createShapes((shape) => ring.addShape(shape))
          const byThread = shapes.intern(inMessages, [1])
          let kept: { at: number; transaction: Transaction }[] = []
          let n = 0
          for (const step of steps) {
            if ("hole" in step) {
              n += step.hole
              ring.restart(BigInt(n * 10))
              kept = []
              continue
            }
            for (let left = step.count; left > 0; left--) {
              now += 1
              n += 1
              const each = transaction(n, { changes: [arrival(`m${n}`, `t${n % step.places}`)] })
              ring.append(each)
              kept.push({ at: now, transaction: each })
            }
            seeAll(ring)
            ring.prune()
            const horizon = now - 3000
            kept = kept.filter(({ at }) => at > horizon)
          }
          const since = BigInt(n * 10 - 5000)
          const late = shapes.intern(inMessages, [1, 2])
          for (const [shape, keys] of [
            [byThread, ["t0", "t1", "t6", "nowhere"]],
            [late, ["t0\0ada", "t5\0ada", "t0\0bob"]],
          ] as const) {
            for (const key of keys) {
              const touched = kept.filter(
                ({ transaction: each }) => each.end > since && reaches(each, shape, key),
              )
              expect(ring.touching(shape, key, since).map(essence)).toEqual(
                touched.map(({ transaction: each }) => essence(each)),
              )
            }
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  it("returns a commit once that affected a range twice, and none for a hash collision", () => {
    const ring = new Ring({ windowMs: 1e9, bytes: 1e9 }, 0n)
    const shape = createShapes((added) => ring.addShape(added)).intern(inMessages, [1])
    // The same with 32-bit FNV-1a.
    const [one, other] = ["costarring", "liquid"]
    ring.append(transaction(1, { changes: [arrival("a", one), arrival("b", other), arrival("c", one)] }))
    ring.append(transaction(2, { changes: [arrival("d", other)] }))
    expect(ring.touching(shape, one, 0n).map(({ xid }) => xid)).toEqual([1n])
    expect(ring.touching(shape, other, 0n).map(({ xid }) => xid)).toEqual([1n, 2n])
  })
})

describe("the memory of a ring buffer", () => {
  it("is counted by what it keeps, and returns to zero", () => {
    let now = 0
    const ring = new Ring({ windowMs: 10, bytes: 1e9 }, 0n, () => now)
    for (let n = 1; n <= 3000; n++)
      ring.append(transaction(n, { changes: [arrival("m", "t", "x".repeat(100))] }))
    expect(ring.length).toBe(3000)
    expect(ring.bytes).toBeGreaterThan(3000 * 100)
    expect(ring.bytes).toBeLessThan(3000 * 400)
    seeAll(ring)
    now = 1000
    ring.prune()
    expect(ring.length).toBe(0)
    expect(ring.bytes).toBe(0)
    expect(ring.start).toBe(30_000n)
  })
})

function missing(ring: Ring): readonly Transaction[] | null {
  return ring.missingFrom(ring.beginSnapshot(), NOTHING_YET)
}

function seeAll(ring: Ring): void {
  const ticket = ring.beginSnapshot()
  ring.learn(ticket, readVisibility("1000000:1000000:"))
  ring.endSnapshot(ticket)
}

function reaches({ changes }: Transaction, shape: Shape, key: string): boolean {
  return changes.some((change) => keysTouched(shape, change).includes(key))
}

/** Everything except the memory accounting. */
function essence(whole: Transaction): Transaction {
  return { ...whole, bytes: 0 }
}

function transaction(n: number, more: Partial<Transaction> = {}): Transaction {
  return {
    xid: BigInt(n),
    start: BigInt(n * 10 - 1),
    end: BigInt(n * 10),
    at: 1_800_000_000_000.5 + n,
    changes: [],
    truncated: new Set(),
    large: null,
    messages: [],
    bytes: 100,
    ...more,
  }
}

function arrival(id: string, threadId: string, body = "text"): RowChange {
  return { table: inMessages, inserted: true, old: null, row: [id, threadId, "ada", body, "", "0"] }
}

function changeOf(): fc.Arbitrary<RowChange> {
  return fc.constantFrom(inMessages, inThreads).chain((table) =>
    fc
      .record({
        table: fc.constant(table),
        inserted: fc.boolean(),
        old: fc.option(tupleOf(table)),
        row: fc.option(tupleOf(table)),
      })
      .map((change) => change satisfies RowChange),
  )
}

function tupleOf(table: WatchedTable): fc.Arbitrary<Tuple> {
  const text = fc.string({ unit: "binary", maxLength: 40 })
  const value = fc.oneof(text, fc.constantFrom(null, undefined, "", "😀 ÄÖÜ שלום"))
  return fc.tuple(...table.columns.map(() => value))
}

function someCommits() {
  return fc.record({ count: fc.integer({ min: 1, max: 2500 }), places: fc.integer({ min: 1, max: 2000 }) })
}

function aHole() {
  return fc.record({ hole: fc.integer({ min: 1, max: 1000 }) })
}
