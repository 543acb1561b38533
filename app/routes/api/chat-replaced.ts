import * as v from "valibot"
import { PageQuery } from "#server/chat/contract.ts"
import { listReplaced } from "#server/chat/replaced.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/chat-replaced.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = v.parse(PageQuery, Object.fromEntries(new URL(request.url).searchParams))
  return answerRefusals(async () =>
    json(await listReplaced(scope, params.threadId, params.messageId, query), {
      headers: { "Cache-Control": "private, no-store" },
    }),
  )
}
