import { SearchQuery } from "#server/chat/contract.ts"
import { searchThreads } from "#server/chat/search.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { queryOf } from "#server/http/query.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/chat-search.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods({ GET: SearchQuery, HEAD: SearchQuery })]

export async function loader({ context, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = queryOf(request, SearchQuery)
  return answerRefusals(async () =>
    json(await searchThreads(scope, query), { headers: { "Cache-Control": "private, no-store" } }),
  )
}
