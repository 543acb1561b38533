import type { MiddlewareFunction } from "react-router"
import { onceOf } from "#server/operations/once.ts"
import { json, methodNotAllowed } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { isConditional, NO_QUERY, refuseCondition } from "./methods.ts"
import { allowedAt, matchedContext, type Asked } from "./operations.ts"
import { parseBody } from "./parse-body.ts"
import { queryOf } from "./query.ts"
import { requireScope } from "./scope.ts"
import { networkIn } from "./visit.ts"

/** Performs the operation that is declared at the URL. What is not declared is the route's. */
export const perform: MiddlewareFunction<Response> = async ({ context, request }, next) => {
  const matched = context.get(matchedContext)
  const { found } = matched
  if (!found) return next()
  const asked = found.endpoint.methods.get(request.method === "HEAD" ? "GET" : request.method)
  if (!asked) return found.isRoute ? next() : methodNotAllowed(allowedAt(matched))
  const { operation } = asked
  const { field, creates, honours, once } = operation.http ?? {}
  if (!honours && isConditional(request)) return refuseCondition()
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    await operation.match?.(scope, found.values, request.headers)
    const input = await inputOf(request, asked)
    if (input instanceof Response) return input
    const output = await operation.run(
      scope,
      { ...input, ...found.values },
      { network: networkIn(context), once: once && onceOf(request) },
    )
    if (output instanceof Response) return output
    if (!operation.output) return new Response(null, { status: 204 })
    return json(field === undefined ? output : { [field]: output }, { status: creates ? 201 : 200 })
  })
}

/** What the query or the body holds, or the response to a body that is no JSON. Throws `BadRequest`. */
async function inputOf(request: Request, { query, body, operation }: Asked) {
  const asked = queryOf(request, query ?? NO_QUERY)
  return body ? parseBody(request, body, { cleansTexts: operation.http?.cleansTexts === true }) : asked
}
