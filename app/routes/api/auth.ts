import { readBytes } from "#server/transport/body.ts"
import { bodyTooLarge, json } from "#server/transport/json.ts"
import { servicesOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import type { Route } from "./+types/auth.ts"

export const handle = { credential: "none" }

/** Bytes: enough for a form of text fields. */
const BODY_LIMIT = 64 * 1024

export function loader(args: Route.LoaderArgs) {
  return answer(args, args.request)
}

export async function action(args: Route.ActionArgs) {
  const { request } = args
  const body = await readBytes(request, BODY_LIMIT)
  if (!body) return bodyTooLarge({}, BODY_LIMIT)
  const { url, method, headers } = request
  return answer(args, new Request(url, { method, headers, body: body.byteLength > 0 ? body : null }))
}

/** The identity provider's own endpoints, if it has any. */
async function answer({ context }: Pick<Route.LoaderArgs, "context">, request: Request) {
  const { identity } = servicesOf(context)
  if (!identity.handle) return json({ error: "Not found" }, { status: 404 })
  const response = await identity.handle(visitOf({ request, context }))
  // Some of its URLs hold tokens from emails.
  if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store")
  return response
}
