import * as v from "valibot"
import { ShareThread } from "#server/chat/contract.ts"
import { listThreadShares, shareThread } from "#server/chat/shares.ts"
import { badInput } from "#server/errors.ts"
import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { bodyTooLarge, json, readJson } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import type { Route } from "./+types/chat-shares.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD", "POST")]

const NOT_KEPT = { "Cache-Control": "private, no-store" }

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () =>
    json({ shares: await listThreadShares(scope, params.threadId) }, { headers: NOT_KEPT }),
  )
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await readJson(request)
    if (!body.ok)
      return body.status === 413 ? bodyTooLarge() : json({ error: "Invalid JSON body" }, { status: 400 })
    const input = v.safeParse(ShareThread, body.value)
    if (!input.success) throw badInput(input.issues)
    return json(await shareThread(scope, params.threadId, input.output), { status: 201, headers: NOT_KEPT })
  })
}
