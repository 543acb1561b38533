import { DownloadQuery, RemoveQuery, RenameFile } from "#server/files/contract.ts"
import { renameFile, requireMatch } from "#server/files/files.ts"
import { purgeFile, trashFile } from "#server/files/trash.ts"
import { serveFile } from "#server/files/serve.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods, NO_QUERY } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { queryOf } from "#server/http/query.ts"
import { requireScope } from "#server/http/scope.ts"
import { parseBody } from "./parse-body.ts"
import type { Route } from "./+types/file.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [
  allowMethods(
    { GET: DownloadQuery, HEAD: DownloadQuery, PATCH: NO_QUERY, DELETE: RemoveQuery },
    { honours: "If-Match" },
  ),
]

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(() => serveFile(scope, params.fileId, request))
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    await requireMatch(scope, params.fileId, request.headers)
    if (request.method === "DELETE") {
      const isFinal = queryOf(request, RemoveQuery).permanently !== undefined
      await (isFinal ? purgeFile(scope, params.fileId) : trashFile(scope, params.fileId))
      return new Response(null, { status: 204 })
    }
    const body = await parseBody(request, RenameFile, { cleansTexts: true })
    if (body instanceof Response) return body
    return json({ file: await renameFile(scope, params.fileId, body) })
  })
}
