import { servePicture } from "#server/accounts/picture.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/picture.ts"

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(() => servePicture(scope, params.pictureId))
}
