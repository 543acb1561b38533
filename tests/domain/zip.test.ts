import { buffer } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { zipOf } from "#server/files/zip.ts"
import { readZip } from "../support/zip.ts"

describe("an archive", () => {
  it.each([0, 1, 65_534, 65_535, 65_536, 70_000])("of %i entries can be read", async (count) => {
    const entries = readZip(await buffer(zipOf(smallEntries(count))))
    expect(entries).toHaveLength(count)
    expect(entries.every(([name, content], index) => name === `${index}.txt` && content === "x")).toBe(true)
  })

  it("that is cancelled ends the generator of its entries", async () => {
    let ended = false
    async function* endless() {
      try {
        for (let index = 0; ; index++) yield { name: `${index}.txt`, input: "x" }
      } finally {
        ended = true
      }
    }
    const reader = zipOf(endless()).getReader()
    await reader.read()
    await reader.cancel()
    expect(ended).toBe(true)
  })
})

async function* smallEntries(count: number) {
  for (let index = 0; index < count; index++) yield { name: `${index}.txt`, input: "x" }
}
