import { msg } from "@lingui/core/macro"
import { i18nOfDocument } from "#app/language/i18n.ts"
import { refusalIn, sentencesIn } from "#app/language/sentences.ts"
import type { RefusalData } from "#server/refusal-contract.ts"

/**
 * The server refused a request, or with status 0 could not be reached. The message is for the user.
 */
export class RequestRefused extends Error {
  readonly status: number
  /**
   * Milliseconds since the epoch: when the request can be repeated. Null if waiting doesn't help.
   */
  readonly retryAt: number | null
  /** The server's name for the refusal, if it gave one. */
  readonly reason: string | undefined

  constructor(status: number, message: string, retryAt: number | null, reason?: string) {
    super(message)
    this.name = "RequestRefused"
    this.status = status
    this.retryAt = retryAt
    this.reason = reason
  }
}

interface Sending {
  /** Sent as JSON. */
  body?: object
  /** Sent unchanged, and stored once: each has a key of its own. */
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
    ...(content && {
      headers: { "content-type": "application/octet-stream", "idempotency-key": crypto.randomUUID() },
      body: content,
    }),
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
  // Not JSON: a proxy responded in place of the application.
  const refusal = refusalIn(await response.json().catch(() => null))
  throw new RequestRefused(response.status, describe(response, refusal), retryAt, refusal?.reason)
}

function describe({ status }: Response, refusal: RefusalData | null) {
  const i18n = i18nOfDocument()
  if (status === 401) return i18n._(msg`You're signed out. Sign in again to continue.`)
  if (status === 429) return i18n._(msg`You've sent a lot of requests in a short time.`)
  return refusal ? sentencesIn(i18n)(refusal) : i18n._(msg`The server responded with status ${status}.`)
}
