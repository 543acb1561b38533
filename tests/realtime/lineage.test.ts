import { describe, expect, it } from "vitest"
import { epochOf, isInLineage, readHistory } from "../../live/server/lineage.ts"

const content = "1\t0/5018F28\tno recovery target specified\n\n2\tA/6000000\tbefore 2026-01-01 00:00:00+00\n"

describe("the history of a timeline", () => {
  it("says where each earlier one was left", () => {
    expect(readHistory(content)).toEqual(
      new Map([
        [1, 0x5018f28n],
        [2, 0xa_0600_0000n],
      ]),
    )
  })

  it("keeps positions up to a promotion, and refuses what the old primary wrote after it", () => {
    const lineage = { system: "7", timeline: 3, ends: readHistory(content) }
    expect(isInLineage(lineage, 1, 0x5018f28n)).toBe(true)
    expect(isInLineage(lineage, 1, 0x5018f29n)).toBe(false)
    expect(isInLineage(lineage, 2, 0x5018f29n)).toBe(true)
    expect(isInLineage(lineage, 3, 0xffff_ffff_ffffn)).toBe(true)
    expect(isInLineage(lineage, 4, 1n)).toBe(false)
  })
})

describe("an epoch", () => {
  const before = epochOf("abcdefghijklmnop", { system: "7", timeline: 2, ends: new Map([[1, 100n]]) })
  const after = epochOf("abcdefghijklmnop", {
    system: "7",
    timeline: 3,
    ends: new Map([
      [1, 100n],
      [2, 200n],
    ]),
  })

  it("has another name after a failover, and includes the positions that it kept", () => {
    expect(after.name).not.toBe(before.name)
    expect(after.includes(before.name, 200n)).toBe(true)
    expect(after.includes(before.name, 201n)).toBe(false)
    expect(after.includes(after.name, 201n)).toBe(true)
    expect(before.includes(after.name, 150n)).toBe(false)
  })

  it("includes no position of another cluster, or of a name without a timeline", () => {
    const other = epochOf("another cluster", { system: "8", timeline: 3, ends: new Map([[2, 200n]]) })
    expect(after.includes(other.name, 1n)).toBe(false)
    expect(after.includes("abcdefghijkl", 1n)).toBe(false)
    expect(after.includes("abcdefghijkl3x", 1n)).toBe(false)
  })
})
