import { ShareThread } from "#server/chat/contract.ts"
import { listThreadShares, shareThread } from "#server/chat/shares.ts"
import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { json } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { NOT_KEPT, parseBody } from "./parse-body.ts"
import type { Route } from "./+types/chat-shares.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD", "POST")]

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () =>
    json({ shares: await listThreadShares(scope, params.threadId) }, { headers: NOT_KEPT }),
  )
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await parseBody(request, ShareThread)
    if (body instanceof Response) return body
    return json(await shareThread(scope, params.threadId, body), { status: 201, headers: NOT_KEPT })
  })
}
