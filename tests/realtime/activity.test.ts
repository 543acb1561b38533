import { beforeEach, describe, expect, it } from "vitest"
import { createActivity, type Activity } from "../../live/server/activity.ts"
import type { Client } from "../../live/server/client.ts"

const NOBODY: ReadonlySet<Client> = new Set()

let now = 0
let activity: Activity
beforeEach(() => {
  now = Date.parse("2026-01-01T00:00:00Z")
  activity = createActivity(() => now)
})

describe("the activity of the last hour", () => {
  it("counts by query what was subscribed to, read and sent", () => {
    activity.subscribed("notes.list", "read")
    activity.subscribed("notes.list", "resumed")
    activity.subscribed("notes.list", "refused")
    activity.rowsRead("notes.list", 4, 10)
    activity.rowsRead("notes.list", 6, 20)
    activity.changesSent("notes.list", 3)
    activity.reset("notes.list", "slow")
    activity.rowsRead("boats.list", 1, 5)
    const { queries, resets } = activity.report(NOBODY)
    expect(queries).toEqual([
      {
        query: "boats.list",
        subscriptions: 0,
        read: 0,
        resumed: 0,
        refused: 0,
        reads: 1,
        readMs: 1,
        rows: 5,
        changes: 0,
        resets: 0,
      },
      {
        query: "notes.list",
        subscriptions: 0,
        read: 1,
        resumed: 1,
        refused: 1,
        reads: 2,
        readMs: 10,
        rows: 30,
        changes: 3,
        resets: 1,
      },
    ])
    expect(resets).toEqual({ slow: 1, gap: 0, large: 0, truncate: 0, schema: 0 })
  })

  it("adds up sixty minutes, and forgets what is older", () => {
    for (let minute = 0; minute < 61; minute++) {
      activity.changesSent("notes.list", 1)
      activity.reset("notes.list", "gap")
      activity.rowsRead("notes.list", minute === 0 ? 1000 : 1, 1)
      now += 60_000
    }
    now -= 60_000
    const { queries, resets, slowest } = activity.report(NOBODY)
    expect(queries[0]?.changes).toBe(60)
    expect(resets.gap).toBe(60)
    expect(slowest.every(({ ms }) => ms === 1)).toBe(true)
    now += 61 * 60_000
    expect(activity.report(NOBODY).queries).toEqual([])
  })

  it("names the ten slowest reads, one of each query and minute at most", () => {
    for (let minute = 0; minute < 12; minute++) {
      activity.rowsRead("notes.list", 100 + minute, minute)
      activity.rowsRead("notes.list", 50, 1)
      now += 60_000
    }
    const { slowest } = activity.report(NOBODY)
    expect(slowest.map(({ ms }) => ms)).toEqual([111, 110, 109, 108, 107, 106, 105, 104, 103, 102])
    expect(slowest[0]).toEqual({ query: "notes.list", ms: 111, rows: 11, at: now - 60_000 })
  })
})
