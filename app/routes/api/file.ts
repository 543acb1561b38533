import * as v from "valibot"
import { badInput } from "#server/errors.ts"
import { RenameFile } from "#server/files/contract.ts"
import { renameFile } from "#server/files/files.ts"
import { purgeFile, trashFile } from "#server/files/trash.ts"
import { serveFile } from "#server/files/serve.ts"
import { bodyTooLarge, json, readJson } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/file.ts"

export const handle = { credential: "key", scope: "files" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD", "PATCH", "DELETE")]

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(() => serveFile(scope, params.fileId, request))
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    if (request.method === "DELETE") {
      const isFinal = new URL(request.url).searchParams.get("permanently") === "1"
      await (isFinal ? purgeFile(scope, params.fileId) : trashFile(scope, params.fileId))
      return new Response(null, { status: 204 })
    }
    const body = await readJson(request, { cleansTexts: true })
    if (!body.ok)
      return body.status === 413 ? bodyTooLarge() : json({ error: "Invalid JSON body" }, { status: 400 })
    const input = v.safeParse(RenameFile, body.value)
    if (!input.success) throw badInput(input.issues)
    return json({ file: await renameFile(scope, params.fileId, input.output) })
  })
}
