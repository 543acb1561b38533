/** The server refused a question; nothing of it was stored. */
export class AskRefused extends Error {
  readonly status: number
  /** Milliseconds since the epoch: when the next question will be taken. Null where waiting is not what helps. */
  readonly retryAt: number | null

  constructor(status: number, message: string, retryAt: number | null) {
    super(message)
    this.name = "AskRefused"
    this.status = status
    this.retryAt = retryAt
  }
}

/** As `fetch`, but throws AskRefused in words for the person who asked. */
export async function askFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init).catch((error: unknown) => {
    if (error instanceof Error && error.name === "AbortError") throw error
    throw new AskRefused(0, "The server cannot be reached. Check your connection and try again.", null)
  })
  if (response.ok) return response
  const seconds = Number(response.headers.get("retry-after"))
  const retryAt = response.status === 429 && seconds > 0 ? Date.now() + seconds * 1000 : null
  throw new AskRefused(response.status, await describe(response), retryAt)
}

/** Sends JSON to one of the chat's addresses and gives back the answer's. Throws AskRefused. */
export async function send<Answer>(
  method: "POST" | "PATCH" | "DELETE",
  address: string,
  body?: object,
): Promise<Answer> {
  const response = await askFetch(address, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  })
  return (response.status === 204 ? undefined : await response.json()) as Answer
}

async function describe(response: Response) {
  if (response.status === 401) return "You are signed out. Sign in again to go on."
  if (response.status === 429) return "That was a lot of questions in a short time."
  try {
    const body: unknown = await response.json()
    if (typeof body === "object" && body !== null && "error" in body && typeof body.error === "string") {
      return body.error
    }
  } catch {
    // No JSON: a proxy answered in place of the application.
  }
  return `The server answered with status ${response.status}.`
}
