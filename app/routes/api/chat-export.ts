import { ExportQuery } from "#server/chat/contract.ts"
import { exportThread } from "#server/chat/export.ts"
import { allowMethods } from "#server/http/methods.ts"
import { queryOf } from "#server/http/query.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/chat-export.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods({ GET: ExportQuery, HEAD: ExportQuery })]

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = queryOf(request, ExportQuery)
  return answerRefusals(() => exportThread(scope, params.threadId, query))
}
