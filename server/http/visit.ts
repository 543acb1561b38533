import type { IncomingMessage } from "node:http"
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
  return {
    request,
    address: senderAddress(connection, request.headers.get("x-forwarded-for"), trustedProxies),
  }
}

/** The same for a request in Node's own form: the upgrade to a WebSocket is one. */
export function addressOfUpgrade(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = request.headers["x-forwarded-for"]
  return senderAddress(
    request.socket.remoteAddress ?? "unknown",
    Array.isArray(forwarded) ? forwarded.join() : (forwarded ?? null),
    trustedProxies,
  )
}

function senderAddress(connection: string, forwardedFor: string | null, trustedProxies: number): string {
  if (trustedProxies === 0) return connection
  const forwarded = (forwardedFor ?? "").split(",").map((part) => part.trim())
  return forwarded.at(-trustedProxies) || connection
}
