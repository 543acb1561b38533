import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { TransferSpace } from "#server/spaces/contract.ts"
import { transferSpace } from "#server/spaces/members.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { parseBody } from "./parse-body.ts"
import type { Route } from "./+types/space-transfer.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("POST")]

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await parseBody(request, TransferSpace)
    if (body instanceof Response) return body
    await transferSpace(scope, params.spaceId, body.userId)
    return new Response(null, { status: 204 })
  })
}
