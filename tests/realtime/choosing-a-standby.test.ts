import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { ReplicaNode } from "#db/embedded/replica-node.ts"
import type { ReplicaSet } from "#db/embedded/replica-set.ts"
import { askMembers, chooseStandby, refuseMoved, type Member } from "#server/ops/standbys.ts"
import { startTestReplicaSet } from "../support/replica-set.ts"

const ROWS = 30

describe("the standby to promote", () => {
  let set: ReplicaSet
  let better: ReplicaNode
  let lesser: ReplicaNode
  const ask = () => askMembers(set.nodes.map(({ url }) => url))

  beforeAll(async () => {
    set = await startTestReplicaSet({ standbys: 2, settings: { synchronous_standby_names: "any 1 (b, c)" } })
    better = set.nodes[1]!
    lesser = set.nodes[2]!
    await on(set.primary, (sql) => sql`create table numbers (n int)`)
    await lesser.whenStreaming()
    // Away from the primary: the other one confirms what follows.
    await lesser.stop()
    for (let n = 1; n <= ROWS; n++) await on(set.primary, (sql) => sql`insert into numbers values (${n})`)
    await set.primary.kill()
    await lesser.start()
  }, 120_000)
  afterAll(() => set.stop())

  it("is the one that confirmed the last commits, also after it was restarted", async () => {
    const choice = chooseStandby(await ask(), [])
    expect(choice).toEqual({
      promote: named(better),
      text: expect.stringMatching(
        /^Promote .*: it has all that the others have, and [\d.]+ \w+ more\./,
      ) as string,
    })
    await better.stop()
    await better.start()
    // What it says to have received is now less than what the other has.
    const [positions] = await on(
      better,
      (sql) => sql<{ isLess: boolean }[]>`
        select coalesce(pg_last_wal_receive_lsn() < pg_last_wal_replay_lsn(), true) as "isLess"`,
    )
    expect(positions?.isLess).toBe(true)
    expect(chooseStandby(await ask(), [])).toEqual(choice)
    await lesser.stop()
    await lesser.start()
    expect(chooseStandby(await ask(), [])).toEqual(choice)
  })

  it("cannot be known while a standby that was restarted has not read all of its log", async () => {
    await better.pauseReplay()
    expect(chooseStandby(await ask(), [])).toEqual({
      promote: null,
      text: expect.stringContaining(
        `${named(better)} may have more than it says: it has not read all of its log yet (RecoveryPause)`,
      ) as string,
    })
    await better.resumeReplay()
  })

  it("cannot be known while another standby does not answer, unless that is lost for good", async () => {
    await lesser.stop()
    const members = await ask()
    expect(chooseStandby(members, [])).toEqual({
      promote: null,
      text: expect.stringMatching(/ do not answer\. .*--without host:port$/) as string,
    })
    expect(chooseStandby(members, [named(lesser)])).toMatchObject({ promote: null })
    expect(chooseStandby(members, [named(lesser), named(set.primary)])).toMatchObject({
      promote: named(better),
    })
    await lesser.start()
  })

  it("has every commit, and nobody is named once it is the primary", async () => {
    await set.failOver(better)
    const [found] = await on(
      better,
      (sql) => sql<{ count: number }[]>`select count(*)::int as count from numbers`,
    )
    expect(found?.count).toBe(ROWS)
    expect(chooseStandby(await ask(), [])).toEqual({
      promote: null,
      text: expect.stringMatching(/ accepts writes\. Nothing has to be promoted/) as string,
    })
  })
})

describe("a choice of a standby", () => {
  it("is either of two with the same position", () => {
    expect(chooseStandby([standby("b"), standby("c")], [])).toMatchObject({
      promote: "b",
      text: expect.stringContaining("those with the same position are as good") as string,
    })
  })

  it.each<[string, Member[], RegExp]>([
    [
      "on different timelines",
      [standby("b"), standby("c", { timeline: 2 })],
      /different timelines.*timeline 2 can/,
    ],
    ["of different databases", [standby("b"), standby("c", { system: "2" })], /system identifiers differ/],
    ["that are not there", [{ name: "a", state: "silent", reason: "refused" }], /No standby answers/],
  ])("is not made between standbys %s", (_what, members, text) => {
    expect(chooseStandby(members, [])).toEqual({ promote: null, text: expect.stringMatching(text) as string })
  })

  it("is not made while a standby still receives", () => {
    const [before, after] = [[standby("b")], [standby("b", { position: 200n })]]
    expect(refuseMoved(before, after)?.text).toMatch(
      /^b still receives from a primary\. Stop the old primary/,
    )
    expect(refuseMoved(after, after)).toBeNull()
  })
})

async function on<Result>(node: ReplicaNode, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(node.url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

function named({ port }: ReplicaNode): string {
  return `127.0.0.1:${port}`
}

function standby(name: string, more: Partial<Member> = {}): Member {
  const place = { state: "standby", system: "1", timeline: 1, position: 100n, unread: null } as const
  return { name, ...place, ...more } as Member
}
