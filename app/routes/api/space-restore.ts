import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { restoreSpace } from "#server/spaces/spaces.ts"
import { json } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import type { Route } from "./+types/space-restore.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("POST")]

export async function action({ context, params }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => json({ space: await restoreSpace(scope, params.spaceId) }))
}
