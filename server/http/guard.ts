import { data, redirectDocument, type MiddlewareFunction } from "react-router"
import type { Config } from "#server/config.ts"
import {
  countedContext,
  outgoingContext,
  servicesContext,
  sessionContext,
  urlContext,
} from "#server/context.ts"
import { dataOfReason } from "#server/errors.ts"
import { accessContext } from "./credentials.ts"
import { isForged } from "./csrf.ts"
import { missingScope } from "./key-scopes.ts"
import type { Session } from "#server/ports/session.ts"
import { json } from "#server/transport/json.ts"
import { matchedContext, matchOperations } from "./operations.ts"
import { isApiPath } from "#server/transport/paths.ts"
import { answersForItself, isOpenPrefix, looksLikeFile } from "./public-paths.ts"
import { secondFactorPath } from "./redirects.ts"
import { refuseVisitor } from "./scope.ts"
import { refuseCredential, refuseScope, refuseUnknown } from "./unauthorized.ts"
import { visitOf } from "./visit.ts"
import { bodyOf } from "#server/transport/refusals.ts"

/**
 * Identifies the sender, once for every request. Everything after it reads the result from the
 * context.
 */
export const identify: MiddlewareFunction<Response> = async ({ request, context, url, pattern }, next) => {
  const { identity, runningRequests } = context.get(servicesContext)
  const matched = matchOperations(pattern, url.pathname)
  context.set(matchedContext, matched)
  context.get(countedContext).route = matched.pattern
  context.set(urlContext, askedFor(request, url))
  const proceed = async () => {
    const askedAt = performance.now()
    const session = await identity.getSession({ ...visitOf({ request, context }), context })
    if (session) runningRequests.add(session.userId, context.get(outgoingContext), askedAt)
    context.set(sessionContext, session)
    return next()
  }
  return identity.middleware ? identity.middleware({ request, context }, proceed) : proceed()
}

/**
 * Refuses cross-site requests, then everybody without the credential that the route declares. React
 * Router runs it only if a matched route has a loader: the root's must stay, and so must the route
 * for unknown URLs.
 */
export const guard: MiddlewareFunction<Response> = async ({ request, context, url, pattern }, next) => {
  const { config } = context.get(servicesContext)
  const access = context.get(accessContext)(context.get(matchedContext).pattern)
  const { credential } = access
  const shown = context.get(sessionContext)
  const isBearer = shown !== null && shown.via !== "cookie"
  if (isBearer && pattern === "*") return refuseUnknown(404)
  if (isBearer && (credential === "session" || credential === "password")) return refuseCredential()
  const session = isBearer && credential === "none" ? null : shown
  context.set(sessionContext, session)

  // A visitor's request to these is harmless, and the contract defines the order of their refusals.
  const orderIsGiven = session === null && answersForItself(url)
  if (!orderIsGiven && isForged(request, session, config.origin)) return refuseForged(url)

  const missing = session && missingScope(session, access, request.method)
  if (missing) return refuseScope(missing)
  const takesFactor = credential === "session" || credential === "key"
  if (session && takesFactor && lacksFactor(session, config)) return askForFactor(context.get(urlContext))
  if (session) return keepFromCaches(await next())
  const leadsNowhere = pattern === "*" && (isOpenPrefix(url) || looksLikeFile(url))
  if (orderIsGiven || credential === "none" || leadsNowhere) return next()
  if (pattern === "*" && isFromProgram(request, url)) return refuseUnknown(401)
  return refuseVisitor(context.get(urlContext))
}

/** Whether a visitor's request for an unknown URL is a program's, which a sign-in page does not help. */
function isFromProgram({ headers }: Request, { pathname }: URL): boolean {
  return headers.has("authorization") || /^\/v\d+(\/|$)/i.test(pathname)
}

/** Whether the session has to show a second factor before it opens anything. */
function lacksFactor({ secondFactor }: Session, { identity }: Config): boolean {
  const isRequired = identity.kind === "embedded" && identity.secondFactor === "required"
  return secondFactor === "missing" || (isRequired && secondFactor === "none")
}

function askForFactor(url: URL): Response {
  if (isApiPath(url.pathname)) return json(bodyOf("second-factor-missing"), { status: 403 })
  return redirectDocument(secondFactorPath(url))
}

/** Pages of signed-in people are private, unless the route declares otherwise. */
function keepFromCaches(response: Response): Response {
  if (!response.headers.has("cache-control")) response.headers.set("cache-control", "private, no-store")
  return response
}

/** The URL as it was requested. React Router's own copy has lost how the query was written. */
function askedFor(request: Request, url: URL): URL {
  if (request.url === url.href) return url
  const asked = new URL(request.url)
  asked.pathname = url.pathname
  if (/[?&](_routes|index)(=|&|$)/.test(asked.search)) asked.search = url.search
  return asked
}

function refuseForged(url: URL): Response {
  if (isApiPath(url.pathname)) return json(bodyOf("request-foreign"), { status: 403 })
  throw data(dataOfReason("request-foreign"), { status: 403 })
}
