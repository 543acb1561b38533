import * as v from "valibot"
import { badInput } from "#server/errors.ts"
import { ShareFile } from "#server/files/contract.ts"
import { onceOf } from "#server/files/once.ts"
import { listShares, shareFile } from "#server/files/shares.ts"
import { bodyTooLarge, json, readJson } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/file-shares.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD", "POST")]

const NOT_KEPT = { "Cache-Control": "private, no-store" }

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () =>
    json({ shares: await listShares(scope, params.fileId) }, { headers: NOT_KEPT }),
  )
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await readJson(request)
    if (!body.ok)
      return body.status === 413 ? bodyTooLarge() : json({ error: "Invalid JSON body" }, { status: 400 })
    const input = v.safeParse(ShareFile, body.value)
    if (!input.success) throw badInput(input.issues)
    return json(await shareFile(scope, params.fileId, input.output, onceOf(request)), {
      status: 201,
      headers: NOT_KEPT,
    })
  })
}
