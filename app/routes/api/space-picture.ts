import { LARGEST_PICTURE } from "#server/picture-contract.ts"
import { TooLarge } from "#server/errors.ts"
import { allowMethods, NO_QUERY } from "#server/http/methods.ts"
import { PictureQuery } from "#server/spaces/contract.ts"
import { requireScope } from "#server/http/scope.ts"
import { saveSpacePicture, serveSpacePicture } from "#server/spaces/picture.ts"
import { readBytes } from "#server/transport/body.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import type { Route } from "./+types/space-picture.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [
  allowMethods({ GET: PictureQuery, HEAD: PictureQuery, PUT: NO_QUERY }),
]

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(() => serveSpacePicture(scope, params.spaceId, request))
}

/** The body is the image itself. */
export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const image = await readBytes(request, LARGEST_PICTURE)
    if (!image) throw new TooLarge("picture-too-large")
    await saveSpacePicture(scope, params.spaceId, image)
    return new Response(null, { status: 204 })
  })
}
