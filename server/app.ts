import { createRequestHandler, RouterContextProvider, type ServerBuild } from "react-router"
import * as build from "virtual:react-router/server-build"
import { isOutage } from "#db/outage.ts"
import {
  countedContext,
  failureContext,
  incomingContext,
  nonceContext,
  requestIdContext,
  servicesContext,
} from "./context.ts"
import type { Exchange } from "./http/listener.ts"
import { json } from "./http/json.ts"
import { isApiPath } from "./http/public-paths.ts"
import { unavailable } from "./http/unavailable.ts"
import type { Services } from "./scope.ts"

/**
 * The application as a function from request to response. The one server module that Vite loads, so that routes and server
 * functions share one copy of context keys and errors; Node hands it the services it opened.
 */
export function createApp(services: Services) {
  // The type of the virtual module knows nothing of exactOptionalPropertyTypes; it is this one otherwise.
  const handle = createRequestHandler(
    build as ServerBuild,
    services.config.production ? "production" : "development",
  )
  return async (request: Request, { incoming, nonce, requestId, counted }: Exchange): Promise<Response> => {
    const context = new RouterContextProvider()
    context.set(servicesContext, services)
    context.set(incomingContext, incoming)
    context.set(nonceContext, nonce)
    context.set(requestIdContext, requestId)
    context.set(countedContext, counted)
    const response = await handle(request, context)
    const failure = context.get(failureContext)
    if (response.status !== 500 || failure === null) return response
    if (isOutage(failure)) return unavailable(request, response)
    return isApiPath(new URL(request.url).pathname)
      ? json({ error: "Internal server error" }, { status: 500 })
      : response
  }
}
