import type { IncomingMessage, ServerResponse } from "node:http"
import { createContext } from "react-router"
import type { Services } from "./scope.ts"
import type { Session } from "./ports/session.ts"

/** The process's services, set for every request. */
export const servicesContext = createContext<Services>()

/** The session that the request proved; null for a visitor. The guard's middleware sets it. */
export const sessionContext = createContext<Session | null>(null)

/** The requested URL, without what React Router adds to it for a page's data. */
export const urlContext = createContext<URL>()

/**
 * Node's request. Its `close` event reports that the client disconnected; `request.signal` does not
 * do so reliably.
 */
export const incomingContext = createContext<IncomingMessage>()

/** Node's response. It closes when it is sent or aborted; a request with a body may close later. */
export const outgoingContext = createContext<ServerResponse>()

/** One per response: our own scripts have it, and the content security policy allows no others. */
export const nonceContext = createContext<string>()

/**
 * Identifies the request in the log, in the response header `x-request-id`, and on the error page.
 */
export const requestIdContext = createContext<string>()

/** The route pattern of this request, for metrics; filled in when the router knows it. */
export const countedContext = createContext<{ route: string | null }>()

/** The error that failed the request, unless it was an intended response. */
export const failureContext = createContext<unknown>(null)
