import { answerTusUpload, speakTus } from "#server/files/tus.ts"
import { allowMethods } from "#server/http/methods.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/file-upload.ts"

export const handle = { credential: "key", scope: "files:write" }

export const middleware: Route.MiddlewareFunction[] = [
  speakTus,
  allowMethods("HEAD", "PATCH", "DELETE", "POST", "OPTIONS"),
]

// HEAD and OPTIONS are the loader's.
export const loader = answer
export const action = answer

async function answer({ context, params, request }: Route.LoaderArgs | Route.ActionArgs) {
  return answerTusUpload(await requireScope(context), request, params.uploadId)
}
