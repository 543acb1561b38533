import * as v from "valibot"
import { badInput } from "#server/errors.ts"
import { ChangeThread } from "#server/chat/contract.ts"
import { findThread, renameThread, setPeopleOnly } from "#server/chat/threads.ts"
import { trashThread } from "#server/chat/trash.ts"
import { bodyTooLarge, json, readJson } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
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
    const body = await readJson(request)
    if (!body.ok)
      return body.status === 413 ? bodyTooLarge() : json({ error: "Invalid JSON body" }, { status: 400 })
    const input = v.safeParse(ChangeThread, body.value)
    if (!input.success) throw badInput(input.issues)
    const { title, peopleOnly } = input.output
    if (peopleOnly !== undefined) await setPeopleOnly(scope, params.threadId, { peopleOnly })
    if (title !== undefined) await renameThread(scope, params.threadId, { title })
    return json({ thread: await findThread(scope, params.threadId) })
  })
}
