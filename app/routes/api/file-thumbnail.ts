import { serveThumbnail } from "#server/files/thumbnails.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/file-thumbnail.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(() => serveThumbnail(scope, params.fileId, request))
}
