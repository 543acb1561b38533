import * as v from "valibot"
import { ExportQuery } from "#server/chat/contract.ts"
import { exportThread } from "#server/chat/export.ts"
import { badInput } from "#server/errors.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals, refusalBody } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/chat-export.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = v.safeParse(ExportQuery, Object.fromEntries(new URL(request.url).searchParams))
  if (!query.success) return json(refusalBody(badInput(query.issues)), { status: 400 })
  return answerRefusals(() => exportThread(scope, params.threadId, query.output))
}
