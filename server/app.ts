import type { IncomingMessage } from "node:http"
import { createRequestHandler, RouterContextProvider, type ServerBuild } from "react-router"
import * as build from "virtual:react-router/server-build"
import { isFull, isOutage } from "#live/check"
import {
  countedContext,
  failureContext,
  incomingContext,
  outgoingContext,
  nonceContext,
  requestIdContext,
  servicesContext,
} from "./context.ts"
import { accessContext, isRoutedContext, readCredentials, readRoutes } from "./http/credentials.ts"
import { withoutForeignOrigin } from "./http/csrf.ts"
import { fixedReads } from "./http/operations.ts"
import { findEndpoints } from "./transport/endpoints.ts"
import type { Exchange, Front } from "./transport/listener.ts"
import { json } from "./transport/json.ts"
import { createPageCache } from "./transport/page-cache.ts"
import { isApiPath } from "./transport/paths.ts"
import { unavailable } from "./transport/unavailable.ts"
import type { Services } from "./scope.ts"
import { bodyOf } from "#server/transport/refusals.ts"

/**
 * The application as a function from request to response. It is the only server module that Vite
 * loads, so that routes and server functions share one copy of context keys and errors; Node passes
 * it the services it opened.
 */
export function createApp(services: Services): Pick<Front, "handle" | "sendPage"> {
  // The virtual module's type ignores exactOptionalPropertyTypes; apart from that they are equal.
  const mode = services.config.production ? "production" : "development"
  const accessOf = readCredentials(build)
  const isRouted = readRoutes(build)
  const endpointOf = findEndpoints(build as ServerBuild, fixedReads)
  const answerRoute = createRequestHandler(build as ServerBuild, mode)
  const pages = createPageCache(({ headers }) => services.identity.isAnonymous(headers))
  return { handle, sendPage: pages.send }

  async function handle(request: Request, exchange: Exchange): Promise<Response> {
    const { incoming, outgoing, nonce, requestId, counted } = exchange
    const context = new RouterContextProvider()
    context.set(servicesContext, services)
    context.set(accessContext, accessOf)
    context.set(isRoutedContext, isRouted)
    context.set(incomingContext, incoming)
    context.set(outgoingContext, outgoing)
    context.set(nonceContext, nonce)
    context.set(requestIdContext, requestId)
    context.set(countedContext, counted)
    const answer = endpointOf(incoming) ?? answerRoute
    const isForPrograms = isApiPath(pathOf(incoming))
    const asked = isForPrograms ? request : withoutForeignOrigin(request, services.config.origin)
    const response = await answer(asked, context)
    pages.keep(response, incoming, { nonce, route: counted.route ?? "" })
    const failure = context.get(failureContext)
    if (response.status !== 500 || failure === null) return response
    if (isOutage(failure))
      return unavailable(request, response, isFull(failure) ? "database-full" : "database-outage")
    return isApiPath(new URL(request.url).pathname)
      ? json(bodyOf("request-failed"), { status: 500 })
      : response
  }
}

function pathOf(incoming: IncomingMessage): string {
  return incoming.url?.split("?", 1)[0] ?? ""
}
