import { href } from "react-router"
import { answerTusCreation, speakTus } from "#server/files/tus.ts"
import { allowMethods } from "#server/http/methods.ts"
import { Place } from "#server/files/contract.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/file-uploads.ts"

export const handle = { credential: "key", scope: "files:write" }

export const middleware: Route.MiddlewareFunction[] = [
  speakTus,
  allowMethods({ POST: Place, OPTIONS: Place }),
]

// OPTIONS is the loader's.
export const loader = answer
export const action = answer

async function answer({ context, request }: Route.LoaderArgs | Route.ActionArgs) {
  return answerTusCreation(await requireScope(context), request, href("/api/files/uploads"))
}
