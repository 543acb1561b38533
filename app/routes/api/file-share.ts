import { revokeShare } from "#server/files/shares.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/file-share.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("DELETE")]

export async function action({ context, params }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    await revokeShare(scope, params.shareId)
    return new Response(null, { status: 204 })
  })
}
