import type { ServerResponse } from "node:http"
import { Forbidden, NotFound, type Refusal } from "#server/errors.ts"

/** Announced by the rule `end_suspended` when a person is suspended. The text is their id. */
const SUSPENDED = "accounts.suspended"

/**
 * Announced by the rule `announce_lost_access` when a person may no longer read, or only edit, in a space. The text is
 * their id, the space's and the right.
 */
const LOST_ACCESS = "spaces.lostAccess"

/** Milliseconds: longer than identifying the sender of a request takes. */
const IDENTIFYING = 60_000

/** The running requests of signed-in people in this process, including uploads and downloads. */
export interface RunningRequests {
  /** `askedAt` is the value of `performance.now()` before the session was looked up. */
  add(userId: string, outgoing: ServerResponse, askedAt: number): void
  /**
   * Holds a right of a person in a space while they use it. `askedAt` is the value of
   * `performance.now()` before their access was checked.
   */
  lease(what: { userId: string; spaceId: string; right: Right; askedAt: number }): AccessLease
  /** The handlers that the realtime layer calls for announcements of these topics. */
  readonly announcements: Readonly<Record<string, (text: string) => void>>
}

type Right = "read" | "edit"

export interface AccessLease {
  /** Aborted with a refusal when the person loses the right. */
  readonly signal: AbortSignal
  release(): void
}

/**
 * Ends the connections of running requests when their person is suspended, and what somebody does in
 * a space when they may no longer do it.
 */
export function openRunningRequests(): RunningRequests {
  const running = new Map<string, Set<ServerResponse>>()
  /** By user id, for as long as a session that was looked up earlier may still be in use. */
  const endedAt = new Map<string, number>()
  /** By user, space and right. */
  const leases = new Map<string, Set<AbortController>>()
  /** The same: when the right was lost. */
  const lostAt = new Map<string, number>()

  function end(userId: string) {
    note(endedAt, userId)
    for (const outgoing of running.get(userId) ?? []) outgoing.req.socket.destroy()
  }

  /** `text` names the right. Without reading there is no editing either. */
  function lose(text: string) {
    const [userId = "", spaceId = "", lost] = text.split(" ")
    for (const right of lost === "edit" ? (["edit"] as const) : (["read", "edit"] as const)) {
      const key = keyOf({ userId, spaceId, right })
      note(lostAt, key)
      const why: Refusal = lost === "edit" ? new Forbidden("space-reader") : new NotFound("space")
      for (const stopped of leases.get(key) ?? []) stopped.abort(why)
    }
  }

  return {
    add(userId, outgoing, askedAt) {
      if ((endedAt.get(userId) ?? -Infinity) >= askedAt) {
        outgoing.req.socket.destroy()
        return
      }
      // Its client left while it was asked who they are.
      if (outgoing.closed) return
      // The connection may then carry somebody else's request, from a proxy for example.
      outgoing.once("close", hold(running, userId, outgoing))
    },
    lease({ askedAt, ...what }) {
      const key = keyOf(what)
      const stopped = new AbortController()
      if ((lostAt.get(key) ?? -Infinity) >= askedAt) stopped.abort(new NotFound("space"))
      return { signal: stopped.signal, release: hold(leases, key, stopped) }
    },
    announcements: { [SUSPENDED]: end, [LOST_ACCESS]: lose },
  }
}

function keyOf({ userId, spaceId, right }: { userId: string; spaceId: string; right: Right }) {
  return `${userId} ${spaceId.toLowerCase()} ${right}`
}

/** Sets the moment of `key`, and forgets those that no request can be about. */
function note(moments: Map<string, number>, key: string) {
  const now = performance.now()
  for (const [known, at] of moments) if (now - at > IDENTIFYING) moments.delete(known)
  moments.set(key, now)
}

/** Adds a member to the set of `key`. Returns what removes it. */
function hold<Member>(sets: Map<string, Set<Member>>, key: string, member: Member): () => void {
  const theirs = sets.get(key) ?? new Set()
  sets.set(key, theirs.add(member))
  return () => {
    theirs.delete(member)
    if (theirs.size === 0 && sets.get(key) === theirs) sets.delete(key)
  }
}
