import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { countEmail } from "#server/http/email-limit.ts"
import { networkIn } from "#server/http/visit.ts"
import { Invite } from "#server/spaces/contract.ts"
import { inviteToSpace, listInvitations } from "#server/spaces/invitations.ts"
import { json } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { NOT_KEPT, parseBody } from "./parse-body.ts"
import type { Route } from "./+types/space-invitations.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD", "POST")]

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () =>
    json({ invitations: await listInvitations(scope, params.spaceId) }, { headers: NOT_KEPT }),
  )
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await parseBody(request, Invite)
    if (body instanceof Response) return body
    if (body.email) countEmail(scope, networkIn(context))
    return json(await inviteToSpace(scope, params.spaceId, body), { status: 201, headers: NOT_KEPT })
  })
}
