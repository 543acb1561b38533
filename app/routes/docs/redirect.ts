import { redirect } from "react-router"
import { servicesContext } from "#server/context.ts"
import type { Route } from "./+types/redirect.ts"

export const handle = { credential: "none" }

/**
 * Redirects `/docs` to the documentation, wherever the operator hosts it. The target is a setting,
 * never part of the request.
 */
export function loader({ context }: Route.LoaderArgs) {
  return redirect(context.get(servicesContext).config.docsUrl)
}
