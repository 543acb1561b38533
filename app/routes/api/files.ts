import { placeOf, UploadQuery } from "#server/files/contract.ts"
import { takeFiles } from "#server/files/incoming.ts"
import { uploadFile } from "#server/files/upload.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/files.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods({ POST: UploadQuery })]

export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  const place = placeOf(request)
  return answerRefusals(async () =>
    json({ files: await takeFiles(request, (file) => uploadFile(scope, file, place)) }, { status: 201 }),
  )
}
