import type { Presence } from "#server/chat/contract.ts"
import type { Members } from "#live/contract"

/** Milliseconds for which somebody counts as writing after they last said so. */
export const WRITING_FOR = 6000

/** Milliseconds between two times that somebody who is writing says so. */
const SAY_AGAIN = 3000

/** Milliseconds. The present do not all introduce themselves to a newcomer at the same moment. */
const INTRODUCE_WITHIN = 500

export interface Present {
  /** By when they came. Each once, in however many windows, and without the user. */
  readers: string[]
  writers: string[]
}

export const NOBODY: Present = { readers: [], writers: [] }

interface PresenceOptions {
  userId: string
  send(presence: Presence): void
  changed(present: Present): void
}

/**
 * Knows who else is in a conversation, from what they say in its channel. Somebody is there while the
 * list of members has the name under which they spoke, so that nobody stays who has gone.
 */
export function createPresence({ userId, send, changed }: PresenceOptions) {
  /** By the name of the member who said it. */
  const spoke = new Map<string, Presence & { at: number }>()
  let own: string | null = null
  let known = new Set<string>()
  let state: Presence["state"] = "reading"
  let saidAt = -Infinity
  let introducing: ReturnType<typeof setTimeout> | undefined
  let expiring: ReturnType<typeof setTimeout> | undefined
  let pausing: ReturnType<typeof setTimeout> | undefined

  function say(next: Presence["state"]) {
    state = next
    saidAt = Date.now()
    send({ userId, state })
  }

  function tell() {
    clearTimeout(expiring)
    const now = Date.now()
    const others = [...spoke]
      .filter(([member, each]) => known.has(member) && each.userId !== userId)
      .map(([, each]) => each)
    const writing = others.filter((each) => each.state === "writing" && now - each.at < WRITING_FOR)
    changed({
      readers: [...new Set(others.map((each) => each.userId))],
      writers: [...new Set(writing.map((each) => each.userId))],
    })
    if (writing.length === 0) return
    const next = Math.min(...writing.map((each) => each.at)) + WRITING_FOR - now
    expiring = setTimeout(tell, next)
  }

  return {
    joined(member: string) {
      own = member
      spoke.clear()
      say(state)
    },
    members({ members }: Pick<Members, "members">) {
      const isNew = members.some((member) => member !== own && !known.has(member))
      // A message can arrive before the list that has its sender, and does not wait for it.
      const now = new Set(members)
      for (const member of known) if (!now.has(member)) spoke.delete(member)
      known = now
      if (isNew) {
        clearTimeout(introducing)
        introducing = setTimeout(() => say(state), Math.random() * INTRODUCE_WITHIN)
      }
      tell()
    },
    message(member: string, presence: Presence) {
      spoke.set(member, { ...presence, at: Date.now() })
      tell()
    },
    left() {
      own = null
      known.clear()
      spoke.clear()
      tell()
    },
    /** Call it for every change of the draft. */
    wrote(text: string) {
      clearTimeout(pausing)
      if (text === "") {
        if (state === "writing") say("reading")
        return
      }
      pausing = setTimeout(() => say("reading"), WRITING_FOR)
      if (state !== "writing" || Date.now() - saidAt >= SAY_AGAIN) say("writing")
    },
    close() {
      for (const timer of [introducing, expiring, pausing]) clearTimeout(timer)
    },
  }
}
