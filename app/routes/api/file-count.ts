import * as v from "valibot"
import { badInput } from "#server/errors.ts"
import { CountFiles } from "#server/files/acts-contract.ts"
import { countMatching } from "#server/files/matching.ts"
import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import { json } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { NOT_KEPT } from "./parse-body.ts"
import type { Route } from "./+types/file-count.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export async function loader({ context, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const asked = v.safeParse(CountFiles, Object.fromEntries(new URL(request.url).searchParams))
    if (!asked.success) throw badInput(asked.issues)
    return json(await countMatching(scope, asked.output), { headers: NOT_KEPT })
  })
}
