import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { listMembers } from "#server/spaces/members.ts"
import { json } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { NOT_KEPT } from "./parse-body.ts"
import type { Route } from "./+types/space-members.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () =>
    json({ members: await listMembers(scope, params.spaceId) }, { headers: NOT_KEPT }),
  )
}
