import { CountFiles } from "#server/files/acts-contract.ts"
import { countMatching } from "#server/files/matching.ts"
import { allowMethods } from "#server/http/methods.ts"
import { queryOf } from "#server/http/query.ts"
import { requireScope } from "#server/http/scope.ts"
import { json } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { NOT_KEPT } from "./parse-body.ts"
import type { Route } from "./+types/file-count.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods({ GET: CountFiles, HEAD: CountFiles })]

export async function loader({ context, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () =>
    json(await countMatching(scope, queryOf(request, CountFiles)), { headers: NOT_KEPT }),
  )
}
