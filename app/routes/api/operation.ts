import { isConditional, NO_QUERY, refuseCondition } from "#server/http/methods.ts"
import { allowedAt, findEndpoint } from "#server/http/operations.ts"
import { queryOf } from "#server/http/query.ts"
import { requireScope } from "#server/http/scope.ts"
import { json, methodNotAllowed } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { parseBody } from "./parse-body.ts"
import type { Route } from "./+types/operation.ts"

/** Of unknown URLs, at which the guard answers 401 to a visitor. An operation declares its own. */
export const handle = { credential: "key", scope: "any" }

export const loader = answer
export const action = answer

/** Performs the declared operation at the URL. */
async function answer({ context, params, request }: Route.LoaderArgs): Promise<Response> {
  const found = findEndpoint(params["*"])
  if (!found) return json({ error: "Not found" }, { status: 404 })
  const { endpoint, values } = found
  const asked = endpoint.methods.get(request.method === "HEAD" ? "GET" : request.method)
  if (!asked) return methodNotAllowed(allowedAt(endpoint))
  if (isConditional(request)) return refuseCondition()
  const { operation, body: schema } = asked
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    queryOf(request, NO_QUERY)
    const body = schema && (await parseBody(request, schema))
    if (body instanceof Response) return body
    const output = await operation.run(scope, { ...body, ...values })
    const { field, creates } = operation.http ?? {}
    if (!operation.output) return new Response(null, { status: 204 })
    return json(field === undefined ? output : { [field]: output }, { status: creates ? 201 : 200 })
  })
}
