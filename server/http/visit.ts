import type { RouterContextProvider } from "react-router"
import { incomingContext, servicesContext } from "#server/context.ts"
import type { Visit } from "#server/ports/session.ts"
import { clientAddressOf, networkOf } from "#server/transport/client-address.ts"

type Context = Readonly<RouterContextProvider>

/** A request and the network address that it came from, which its sender cannot choose. */
export function visitOf({ request, context }: { request: Request; context: Context }): Visit {
  return { request, address: addressIn(context) }
}

/**
 * The network that a request came from, which limits count by: a host with one of its addresses
 * usually has all of them.
 */
export function networkIn(context: Context): string {
  return networkOf(addressIn(context))
}

function addressIn(context: Context): string {
  return clientAddressOf(context.get(incomingContext), context.get(servicesContext).config.trustsProxy)
}
