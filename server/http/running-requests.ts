import type { ServerResponse } from "node:http"

/** Announced by the database when a person is suspended. The text is their id. */
const SUSPENDED = "accounts.suspended"

/** Milliseconds: longer than identifying the sender of a request takes. */
const IDENTIFYING = 60_000

/** The running requests of signed-in people in this process, including uploads and downloads. */
export interface RunningRequests {
  /** `askedAt` is the value of `performance.now()` before the session was looked up. */
  add(userId: string, outgoing: ServerResponse, askedAt: number): void
  /** The handlers that the realtime layer calls for announcements of these topics. */
  readonly announcements: Readonly<Record<string, (text: string) => void>>
}

/** Ends the connections of running requests when their person is suspended. */
export function openRunningRequests(): RunningRequests {
  const running = new Map<string, Set<ServerResponse>>()
  /** By user id, for as long as a session that was looked up earlier may still be in use. */
  const endedAt = new Map<string, number>()

  function end(userId: string) {
    const now = performance.now()
    for (const [id, at] of endedAt) if (now - at > IDENTIFYING) endedAt.delete(id)
    endedAt.set(userId, now)
    for (const outgoing of running.get(userId) ?? []) outgoing.req.socket.destroy()
  }

  return {
    add(userId, outgoing, askedAt) {
      if ((endedAt.get(userId) ?? -Infinity) >= askedAt) {
        outgoing.req.socket.destroy()
        return
      }
      const theirs = running.get(userId) ?? new Set()
      running.set(userId, theirs.add(outgoing))
      // The connection may then carry somebody else's request, from a proxy for example.
      outgoing.once("close", () => {
        theirs.delete(outgoing)
        if (theirs.size === 0 && running.get(userId) === theirs) running.delete(userId)
      })
    },
    announcements: { [SUSPENDED]: end },
  }
}
