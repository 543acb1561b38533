import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { revokeInvitation } from "#server/spaces/invitations.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import type { Route } from "./+types/space-invitation.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("DELETE")]

export async function action({ context, params }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    await revokeInvitation(scope, params.invitationId)
    return new Response(null, { status: 204 })
  })
}
