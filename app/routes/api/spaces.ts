import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { CreateSpace } from "#server/spaces/contract.ts"
import { createSpace, listSpaces } from "#server/spaces/spaces.ts"
import { json } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { NOT_KEPT, parseBody } from "./parse-body.ts"
import type { Route } from "./+types/spaces.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD", "POST")]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return json({ spaces: await listSpaces(scope) }, { headers: NOT_KEPT })
}

export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await parseBody(request, CreateSpace)
    if (body instanceof Response) return body
    return json({ space: await createSpace(scope, body) }, { status: 201 })
  })
}
