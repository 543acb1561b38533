import { ShareFile } from "#server/files/contract.ts"
import { onceOf } from "#server/files/once.ts"
import { listShares, shareFile } from "#server/files/shares.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import { NOT_KEPT, parseBody } from "./parse-body.ts"
import type { Route } from "./+types/file-shares.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD", "POST")]

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () =>
    json({ shares: await listShares(scope, params.fileId) }, { headers: NOT_KEPT }),
  )
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await parseBody(request, ShareFile)
    if (body instanceof Response) return body
    return json(await shareFile(scope, params.fileId, body, onceOf(request)), {
      status: 201,
      headers: NOT_KEPT,
    })
  })
}
