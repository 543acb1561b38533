import { SelectedFiles } from "#server/files/acts-contract.ts"
import { ListTrash, Place, placeOf } from "#server/files/contract.ts"
import { listTrash } from "#server/files/list-trash.ts"
import { emptyTrash, trashFiles } from "#server/files/trash.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods, NO_QUERY } from "#server/http/methods.ts"
import { queryOf } from "#server/http/query.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import { parseBody } from "./parse-body.ts"
import type { Route } from "./+types/file-trash.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [
  allowMethods({ GET: ListTrash, HEAD: ListTrash, POST: NO_QUERY, DELETE: Place }),
]

export async function loader({ context, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = queryOf(request, ListTrash)
  return answerRefusals(async () =>
    json(await listTrash(scope, query), { headers: { "Cache-Control": "private, no-store" } }),
  )
}

export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    if (request.method === "DELETE") return json({ purged: await emptyTrash(scope, placeOf(request)) })
    const body = await parseBody(request, SelectedFiles)
    return body instanceof Response ? body : json(await trashFiles(scope, body))
  })
}
