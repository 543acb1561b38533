import { DownloadQuery } from "#server/files/contract.ts"
import { serveFile } from "#server/files/serve.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/file.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [
  allowMethods({ GET: DownloadQuery, HEAD: DownloadQuery }),
]

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(() => serveFile(scope, params.fileId, request))
}
