import { href, redirect } from "react-router"
import { moveBoat } from "#server/demo/boats.ts"
import { MoveBoat } from "#server/demo/contract.ts"
import { readForm } from "#server/http/form.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { rateLimitHeaders } from "#server/transport/rate-limit.ts"
import { servicesOf } from "#server/http/scope.ts"
import { networkIn } from "#server/http/visit.ts"
import type { Route } from "./+types/demo.ts"

export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "POST")]

/** Changes of boats per minute, by all visitors together. */
const EVERYBODY = 1200

/**
 * The boats of the home page, as server-sent events. Anyone who opens the URL in a browser is
 * redirected to the page.
 */
export function loader({ context, request }: Route.LoaderArgs) {
  const { demo } = servicesOf(context)
  if (!demo) return noDemo()
  if (!request.headers.get("accept")?.includes("text/event-stream")) return redirect(href("/") + "#live")
  const stream = demo.watch(networkIn(context))
  if (!stream) return json({ error: "Too many are looking. Try again in a while." }, { status: 503 })
  return new Response(stream, {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" },
  })
}

/**
 * Moves a boat. Without a script the page is shown again, with the change; a script gets an empty
 * response and receives the change as an event.
 */
export async function action({ context, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const { demo } = services
  if (!demo) return noDemo()
  const isScript = request.headers.get("accept") === "application/json"
  const refuse = (error: string, status: number, headers: Record<string, string> = {}) =>
    isScript ? json({ error }, { status, headers }) : redirect(href("/") + `?refused=${status}#live`)

  const limiter = services.limiters.demo
  const own = limiter.check(networkIn(context))
  const limit = own.success ? limiter.check("everybody", EVERYBODY) : own
  if (!limit.success) return refuse("Too many clicks. Try again in a minute.", 429, rateLimitHeaders(limit))
  const form = await readForm(request, MoveBoat)
  if (!form.ok) return refuse("There is no such boat in this harbour.", form.status)

  const shown = demo.changed()
  if ((await moveBoat(services, form.value)) && !isScript) await shown
  // The query bypasses the page cache, which keeps the plain home page for some seconds.
  return isScript ? new Response(null, { status: 204 }) : redirect(href("/") + "?moved#live", 303)
}

function noDemo() {
  return json({ error: "The demo is switched off here." }, { status: 404 })
}
