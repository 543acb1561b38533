import { ChangeThread } from "#server/chat/contract.ts"
import { findThread, renameThread, setPeopleOnly } from "#server/chat/threads.ts"
import { trashThread } from "#server/chat/trash.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import { parseBody } from "./parse-body.ts"
import type { Route } from "./+types/chat-thread.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD", "PATCH", "DELETE")]

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () =>
    json(
      { thread: await findThread(scope, params.threadId) },
      { headers: { "Cache-Control": "private, no-store" } },
    ),
  )
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    if (request.method === "DELETE") {
      await trashThread(scope, params.threadId)
      return new Response(null, { status: 204 })
    }
    const body = await parseBody(request, ChangeThread)
    if (body instanceof Response) return body
    const { title, peopleOnly } = body
    if (peopleOnly !== undefined) await setPeopleOnly(scope, params.threadId, { peopleOnly })
    if (title !== undefined) await renameThread(scope, params.threadId, { title })
    return json({ thread: await findThread(scope, params.threadId) })
  })
}
