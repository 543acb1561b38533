import { isFull, isOutage } from "#live/check"
import { isRefusal } from "#server/errors.ts"
import { json } from "#server/transport/json.ts"
import { bodyOf, refusalBody } from "#server/transport/refusals.ts"
import type { Scope } from "#server/scope.ts"

/**
 * The response to a failed chat request. It has the same headers as the others, so that a client
 * can always count its requests.
 */
export function answerFailure(
  { log }: Scope<"log">,
  error: unknown,
  headers: Record<string, string>,
): Response {
  // If the account has been deleted, the response has already been created.
  if (error instanceof Response) return withHeaders(error, headers)
  if (isRefusal(error)) return json(refusalBody(error), { status: error.status, headers })
  log.error({ err: error }, "chat request failed")
  return isOutage(error)
    ? json(bodyOf(isFull(error) ? "database-full" : "database-outage"), { status: 503, headers })
    : json(bodyOf("message-not-saved"), { status: 500, headers })
}

function withHeaders(response: Response, headers: Record<string, string>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}
