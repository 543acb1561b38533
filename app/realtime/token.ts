export interface RealtimeToken {
  token: string
  /** Milliseconds since the epoch. */
  expiresAt: number
}

/** What lets this browser open a socket; null when nobody is signed in. Throws when the server cannot be reached. */
export async function fetchToken(): Promise<RealtimeToken | null> {
  const response = await fetch("/api/realtime/token", {
    headers: { accept: "application/json" },
    cache: "no-store",
  })
  if (response.status === 401) return null
  if (!response.ok)
    throw new Error(`The server answered ${response.status} to the request for a realtime token.`)
  return (await response.json()) as RealtimeToken
}
