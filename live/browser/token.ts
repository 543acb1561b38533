export interface RealtimeToken {
  token: string
  /** Milliseconds from now, by the server's clock: this browser's may be wrong. */
  lifetime: number
}

/** Milliseconds. A hanging request must not keep the page from its next attempt. */
const TIMEOUT = 10_000

/**
 * Fetches the token that lets this user open a socket; null if they are no longer signed in here.
 * Throws if the server cannot be reached.
 */
export async function fetchToken(userId: string): Promise<RealtimeToken | null> {
  const response = await fetch("/api/realtime/token", {
    headers: { accept: "application/json" },
    cache: "no-store",
    signal: AbortSignal.timeout(TIMEOUT),
  })
  if (response.status === 401) return null
  if (!response.ok) throw new Error(`Status ${response.status} for a token`)
  const issued = (await response.json()) as { token: string; expiresAt: number; userId: string }
  // The cookies may belong to another user by now, whose rows must not appear on this page.
  if (issued.userId !== userId) return null
  return { token: issued.token, lifetime: issued.expiresAt - clockOf(response) }
}

function clockOf(response: Response): number {
  const date = Date.parse(response.headers.get("date") ?? "")
  return Number.isNaN(date) ? Date.now() : date
}
