import { orErrorPage } from "#server/http/or-error-page.ts"
import { allowMethods } from "#server/http/methods.ts"
import { servicesOf } from "#server/http/scope.ts"
import { previewShare } from "#server/files/share-visits.ts"
import type { Route } from "./+types/preview.ts"

export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

/** The bytes that the page of a link shows. */
export async function loader({ context, params, request }: Route.LoaderArgs) {
  return orErrorPage(() => previewShare(servicesOf(context), params.token, request))
}
