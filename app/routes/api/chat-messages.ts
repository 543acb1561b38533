import { PageQuery } from "#server/chat/contract.ts"
import { listMessages } from "#server/chat/messages.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { queryOf } from "#server/http/query.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/chat-messages.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods({ GET: PageQuery, HEAD: PageQuery })]

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = queryOf(request, PageQuery)
  return answerRefusals(async () =>
    json(await listMessages(scope, params.threadId, query), {
      headers: { "Cache-Control": "private, no-store" },
    }),
  )
}
