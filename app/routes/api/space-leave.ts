import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { leaveSpace } from "#server/spaces/spaces.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import type { Route } from "./+types/space-leave.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("POST")]

export async function action({ context, params }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    await leaveSpace(scope, params.spaceId)
    return new Response(null, { status: 204 })
  })
}
