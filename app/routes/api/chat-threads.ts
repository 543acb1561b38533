import * as v from "valibot"
import { answerRefusals, refusalBody } from "#server/transport/refusals.ts"
import { badInput } from "#server/errors.ts"
import { CreateThread, ThreadsQuery } from "#server/chat/contract.ts"
import { createThread, listThreads } from "#server/chat/threads.ts"
import { bodyTooLarge, json, readJson } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/chat-threads.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD", "POST")]

export async function loader({ context, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = v.parse(ThreadsQuery, Object.fromEntries(new URL(request.url).searchParams))
  return answerRefusals(async () =>
    json(await listThreads(scope, query), { headers: { "Cache-Control": "private, no-store" } }),
  )
}

export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  const body = await readJson(request)
  if (!body.ok)
    return body.status === 413 ? bodyTooLarge() : json({ error: "Invalid JSON body" }, { status: 400 })
  const input = v.safeParse(CreateThread, body.value)
  if (!input.success) return json(refusalBody(badInput(input.issues)), { status: 400 })
  return answerRefusals(async () =>
    json({ thread: await createThread(scope, input.output) }, { status: 201 }),
  )
}
