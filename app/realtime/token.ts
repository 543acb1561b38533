export interface RealtimeToken {
  token: string
  /** Milliseconds from now, by the server's clock: this browser's may be wrong. */
  lifetime: number
}

/** Milliseconds. A request that hangs must not keep the page from its next attempt. */
const TIMEOUT = 10_000

/**
 * What lets this user open a socket; null when they are no longer signed in here. Throws when the
 * server cannot be reached.
 */
export async function fetchToken(userId: string): Promise<RealtimeToken | null> {
  const response = await fetch("/api/realtime/token", {
    headers: { accept: "application/json" },
    cache: "no-store",
    signal: AbortSignal.timeout(TIMEOUT),
  })
  if (response.status === 401) return null
  if (!response.ok)
    throw new Error(`The server answered ${response.status} to the request for a realtime token.`)
  const issued = (await response.json()) as { token: string; expiresAt: number; userId: string }
  // The cookies may be another user's by now. Their rows do not belong on this page.
  if (issued.userId !== userId) return null
  return { token: issued.token, lifetime: issued.expiresAt - clockOf(response) }
}

function clockOf(response: Response): number {
  const date = Date.parse(response.headers.get("date") ?? "")
  return Number.isNaN(date) ? Date.now() : date
}
