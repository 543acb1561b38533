import { href, redirect } from "react-router"
import { isRefusal } from "#server/errors.ts"
import { downloadShare } from "#server/files/share-visits.ts"
import { json } from "#server/transport/json.ts"
import { refusalBody } from "#server/transport/refusals.ts"
import { allowMethods } from "#server/http/methods.ts"
import { servicesOf } from "#server/http/scope.ts"
import type { Route } from "./+types/download.ts"

export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

/**
 * A browser that may not have the file is redirected to the page, which says why or asks for the
 * password; a program gets JSON.
 */
export async function loader({ context, params, request }: Route.LoaderArgs) {
  try {
    return await downloadShare(servicesOf(context), params.token, request)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const isPerson = request.headers.get("accept")?.includes("text/html") ?? false
    if (isPerson) return redirect(href("/share/:token", { token: encodeURIComponent(params.token) }), 303)
    return json(refusalBody(error), { status: error.status, headers: { "Cache-Control": "no-store" } })
  }
}
