import type { IncomingMessage } from "node:http"
import { createRequestHandler, RouterContextProvider } from "react-router"
import * as build from "virtual:react-router/server-build"
import { incomingContext, nonceContext, servicesContext } from "./context.ts"
import type { Services } from "./scope.ts"

/**
 * The application as a function from request to response. The one server module that Vite loads, so that routes and server
 * functions share one copy of context keys and errors; Node hands it the services it opened.
 */
export function createApp(services: Services) {
  const handle = createRequestHandler(build, services.config.production ? "production" : "development")
  return (request: Request, incoming: IncomingMessage, nonce: string): Promise<Response> => {
    const context = new RouterContextProvider()
    context.set(servicesContext, services)
    context.set(incomingContext, incoming)
    context.set(nonceContext, nonce)
    return handle(request, context)
  }
}
