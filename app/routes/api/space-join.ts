import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { JoinSpace } from "#server/spaces/contract.ts"
import { acceptByLink } from "#server/spaces/invitations.ts"
import { json } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { parseBody } from "./parse-body.ts"
import type { Route } from "./+types/space-join.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("POST")]

export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await parseBody(request, JoinSpace)
    if (body instanceof Response) return body
    return json({ space: await acceptByLink(scope, body.token) })
  })
}
