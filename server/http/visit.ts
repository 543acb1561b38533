import type { RouterContextProvider } from "react-router"
import { incomingContext, servicesContext } from "#server/context.ts"
import type { Visit } from "#server/ports/identity.ts"

/**
 * A request and the network address that it came from, which its sender cannot choose: that of the connection, or the one that
 * the outermost of the operator's own proxies saw.
 */
export function visitOf({
  request,
  context,
}: {
  request: Request
  context: Readonly<RouterContextProvider>
}): Visit {
  const { trustedProxies } = context.get(servicesContext).config
  const connection = context.get(incomingContext).socket.remoteAddress ?? "unknown"
  if (trustedProxies === 0) return { request, address: connection }
  const forwarded = (request.headers.get("x-forwarded-for") ?? "").split(",").map((part) => part.trim())
  return { request, address: forwarded.at(-trustedProxies) || connection }
}
