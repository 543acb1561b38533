import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { ChangeMember } from "#server/spaces/contract.ts"
import { removeMember, setRole } from "#server/spaces/members.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { parseBody } from "./parse-body.ts"
import type { Route } from "./+types/space-member.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("PATCH", "DELETE")]

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    if (request.method === "DELETE") await removeMember(scope, params.spaceId, params.userId)
    else {
      const body = await parseBody(request, ChangeMember)
      if (body instanceof Response) return body
      await setRole(scope, params.spaceId, params.userId, body)
    }
    return new Response(null, { status: 204 })
  })
}
