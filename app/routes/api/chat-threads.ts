import { answerRefusals } from "#server/transport/refusals.ts"
import { CreateThread, ThreadsQuery } from "#server/chat/contract.ts"
import { createThread, listThreads } from "#server/chat/threads.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods, NO_QUERY } from "#server/http/methods.ts"
import { queryOf } from "#server/http/query.ts"
import { requireScope } from "#server/http/scope.ts"
import { parseBody } from "./parse-body.ts"
import type { Route } from "./+types/chat-threads.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [
  allowMethods({ GET: ThreadsQuery, HEAD: ThreadsQuery, POST: NO_QUERY }),
]

export async function loader({ context, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = queryOf(request, ThreadsQuery)
  return answerRefusals(async () =>
    json(await listThreads(scope, query), { headers: { "Cache-Control": "private, no-store" } }),
  )
}

export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await parseBody(request, CreateThread)
    if (body instanceof Response) return body
    return json({ thread: await createThread(scope, body) }, { status: 201 })
  })
}
