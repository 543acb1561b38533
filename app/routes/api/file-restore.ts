import { restoreFile } from "#server/files/restore.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/file-restore.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("POST")]

export async function action({ context, params }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => json({ file: await restoreFile(scope, params.fileId) }))
}
