import * as v from "valibot"
import { SearchQuery } from "#server/chat/contract.ts"
import { searchThreads } from "#server/chat/search.ts"
import { badInput } from "#server/errors.ts"
import { answerRefusals, refusalBody } from "#server/transport/refusals.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/chat-search.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export async function loader({ context, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = v.safeParse(SearchQuery, Object.fromEntries(new URL(request.url).searchParams))
  if (!query.success) return json(refusalBody(badInput(query.issues)), { status: 400 })
  const { output } = query
  return answerRefusals(async () =>
    json(await searchThreads(scope, output), { headers: { "Cache-Control": "private, no-store" } }),
  )
}
