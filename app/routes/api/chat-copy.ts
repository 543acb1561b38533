import { MoveThread } from "#server/chat/contract.ts"
import { copyThread } from "#server/chat/move.ts"
import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { json } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { parseBody } from "./parse-body.ts"
import type { Route } from "./+types/chat-copy.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("POST")]

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await parseBody(request, MoveThread)
    if (body instanceof Response) return body
    return json({ thread: await copyThread(scope, params.threadId, body) }, { status: 201 })
  })
}
