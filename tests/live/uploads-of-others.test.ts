import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { createUploadsOfOthers } from "#app/routes/dashboard/files/upload/uploads-of-others.ts"
import type { Uploading } from "#server/files/upload-progress-contract.ts"

let shown: readonly Uploading[]
let others: ReturnType<typeof createUploadsOfOthers>

beforeEach(() => {
  vi.useFakeTimers()
  shown = []
  others = createUploadsOfOthers({ userId: "me", changed: (uploads) => void (shown = uploads) })
})
afterEach(() => {
  others.close()
  vi.useRealTimers()
})

function hear(uploadId: string, rest: Partial<Uploading> = {}) {
  const upload = { userId: "ada", fileName: "tides.mov", size: 100, received: 1, isOver: false }
  others.message("a name", { uploadId, ...upload, ...rest })
}

describe("the uploads of others", () => {
  it("are shown as far as they are, the first to begin first, until they are over", () => {
    hear("one")
    hear("two")
    hear("mine", { userId: "me" })
    hear("one", { received: 50 })
    expect(shown.map(({ uploadId, received }) => [uploadId, received])).toEqual([
      ["one", 50],
      ["two", 1],
    ])
    hear("one", { isOver: true })
    expect(shown.map(({ uploadId }) => uploadId)).toEqual(["two"])
  })

  it("are forgotten after five seconds without news, and with the channel", () => {
    hear("one")
    vi.advanceTimersByTime(4000)
    hear("two")
    vi.advanceTimersByTime(3000)
    expect(shown.map(({ uploadId }) => uploadId)).toEqual(["two"])
    others.left()
    expect(shown).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })
})
