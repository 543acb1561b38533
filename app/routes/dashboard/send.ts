import { msg } from "@lingui/core/macro"
import { i18nOfDocument } from "#app/language/i18n.ts"
import { refusalIn, sentencesIn } from "#app/language/sentences.ts"

/**
 * The server refused a request, or with status 0 could not be reached. The message is for the user.
 */
export class RequestRefused extends Error {
  readonly status: number
  /**
   * Milliseconds since the epoch: when the request can be repeated. Null if waiting doesn't help.
   */
  readonly retryAt: number | null

  constructor(status: number, message: string, retryAt: number | null) {
    super(message)
    this.name = "RequestRefused"
    this.status = status
    this.retryAt = retryAt
  }
}

interface Sending {
  /** Sent as JSON. */
  body?: object
  /** Sent unchanged. */
  content?: Blob
  signal?: AbortSignal
}

/** Sends a request to this server and returns the JSON of the response. Throws RequestRefused. */
export async function send<Answer>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  address: string,
  { body, content, signal }: Sending = {},
): Promise<Answer> {
  const response = await request(address, {
    method,
    ...(signal && { signal }),
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    ...(content && { headers: { "content-type": "application/octet-stream" }, body: content }),
  })
  return (response.status === 204 ? undefined : await response.json()) as Answer
}

/**
 * Like `fetch`, but throws RequestRefused for any status that is not 2xx, and when there is no
 * response.
 */
export async function request(address: string, init: RequestInit): Promise<Response> {
  const response = await fetch(address, init).catch((error: unknown) => {
    if (error instanceof Error && error.name === "AbortError") throw error
    const unreachable = msg`The server can't be reached. Check your connection and try again.`
    throw new RequestRefused(0, i18nOfDocument()._(unreachable), null)
  })
  if (response.ok) return response
  const seconds = Number(response.headers.get("retry-after"))
  const retryAt = response.status === 429 && seconds > 0 ? Date.now() + seconds * 1000 : null
  throw new RequestRefused(response.status, await describe(response), retryAt)
}

async function describe(response: Response) {
  const { status } = response
  const i18n = i18nOfDocument()
  if (status === 401) return i18n._(msg`You're signed out. Sign in again to continue.`)
  if (status === 429) return i18n._(msg`You've sent a lot of requests in a short time.`)
  try {
    const refusal = refusalIn(await response.json())
    if (refusal) return sentencesIn(i18n)(refusal)
  } catch {
    // Not JSON: a proxy responded in place of the application.
  }
  return i18n._(msg`The server responded with status ${status}.`)
}
