import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { createPresence, type Present } from "#app/routes/dashboard/chat/conversation/presence.ts"
import type { Presence } from "#server/chat/contract.ts"

let sent: Presence["state"][]
let present: Present
let presence: ReturnType<typeof createPresence>

beforeEach(() => {
  vi.useFakeTimers()
  sent = []
  present = { readers: [], writers: [] }
  presence = createPresence({
    userId: "me",
    send: ({ state }) => void sent.push(state),
    changed: (to) => void (present = to),
  })
  presence.joined("1")
  presence.members({ members: ["1"] })
})
afterEach(() => {
  presence.close()
  vi.useRealTimers()
})

const says = (member: string, userId: string, state: Presence["state"] = "reading") =>
  presence.message(member, { userId, state })

describe("presence in a conversation", () => {
  it("is who has said so and is still a member, each person once, without oneself", () => {
    says("2", "ada")
    expect(present.readers).toEqual([])
    presence.members({ members: ["1", "2", "3", "4"] })
    says("3", "ada")
    says("4", "me")
    expect(present).toEqual({ readers: ["ada"], writers: [] })
    presence.members({ members: ["1", "3"] })
    expect(present.readers).toEqual(["ada"])
    presence.members({ members: ["1"] })
    expect(present.readers).toEqual([])
  })

  it("is told on joining and to newcomers, and to nobody who was there", () => {
    expect(sent).toEqual(["reading"])
    presence.members({ members: ["1", "2"] })
    vi.advanceTimersByTime(1000)
    expect(sent).toEqual(["reading", "reading"])
    presence.members({ members: ["1"] })
    vi.advanceTimersByTime(1000)
    expect(sent).toHaveLength(2)
  })

  it("is nobody once the channel was left, and is told again on joining again", () => {
    presence.members({ members: ["1", "2"] })
    says("2", "ada")
    presence.left()
    expect(present.readers).toEqual([])
    presence.joined("5")
    expect(sent).toEqual(["reading", "reading"])
  })
})

describe("writing", () => {
  it("is said at the first character, every three seconds, and ends with the text", () => {
    presence.wrote("H")
    for (let second = 0; second < 7; second++) {
      vi.advanceTimersByTime(1000)
      presence.wrote(`H${"m".repeat(second)}`)
    }
    expect(sent).toEqual(["reading", "writing", "writing", "writing"])
    presence.wrote("")
    presence.wrote("")
    expect(sent.slice(4)).toEqual(["reading"])
  })

  it("ends after six seconds without a character", () => {
    presence.wrote("Hm")
    vi.advanceTimersByTime(6000)
    expect(sent).toEqual(["reading", "writing", "reading"])
  })

  it("of others ends when they say so, after six seconds of silence, and when they go", () => {
    presence.members({ members: ["1", "2", "3"] })
    says("2", "ada", "writing")
    says("3", "grace", "writing")
    expect(present.writers).toEqual(["ada", "grace"])
    says("2", "ada")
    expect(present.writers).toEqual(["grace"])
    vi.advanceTimersByTime(6000)
    expect(present).toEqual({ readers: ["ada", "grace"], writers: [] })
    says("3", "grace", "writing")
    presence.members({ members: ["1", "2"] })
    expect(present).toEqual({ readers: ["ada"], writers: [] })
  })
})
