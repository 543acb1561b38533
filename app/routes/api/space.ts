import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { ChangeSpace } from "#server/spaces/contract.ts"
import { changeSpace, findSpace, trashSpace } from "#server/spaces/spaces.ts"
import { json } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { NOT_KEPT, parseBody } from "./parse-body.ts"
import type { Route } from "./+types/space.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD", "PATCH", "DELETE")]

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () =>
    json({ space: await findSpace(scope, params.spaceId) }, { headers: NOT_KEPT }),
  )
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    if (request.method === "DELETE") {
      await trashSpace(scope, params.spaceId)
      return new Response(null, { status: 204 })
    }
    const body = await parseBody(request, ChangeSpace)
    if (body instanceof Response) return body
    return json({ space: await changeSpace(scope, params.spaceId, body) })
  })
}
