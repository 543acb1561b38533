import { withdrawMessage } from "#server/chat/waiting.ts"
import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import type { Route } from "./+types/chat-waiting-message.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("DELETE")]

export async function action({ context, params }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    await withdrawMessage(scope, params.waitingId)
    return new Response(null, { status: 204 })
  })
}
