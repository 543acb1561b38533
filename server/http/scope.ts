import type { IncomingHttpHeaders } from "node:http"
import { data, redirectDocument, type RouterContextProvider } from "react-router"
import { incomingContext, servicesContext, sessionContext, urlContext } from "#server/context.ts"
import type { User } from "#db/schema/users.ts"
import { isRefusal } from "#server/errors.ts"
import type { Session } from "#server/ports/session.ts"
import type { FullScope, Services } from "#server/scope.ts"
import { saveLanguage } from "#server/users/language.ts"
import { findOrCreateUser } from "#server/users/users.ts"
import { json } from "#server/transport/json.ts"
import { chosenLanguage, languageFor } from "#server/transport/language.ts"
import { isApiPath } from "./public-paths.ts"
import { signInPath } from "./redirects.ts"
import { unauthorized } from "./unauthorized.ts"

type Context = Readonly<RouterContextProvider>

export function servicesOf(context: Context): Services {
  return context.get(servicesContext)
}

/** Null for a visitor. */
export function sessionOf(context: Context): Session | null {
  return context.get(sessionContext)
}

/**
 * The services and the signed-in caller, whose record is made here when it is missing. Throws the
 * answer to send when nobody is signed in: 401 for the API, the way to the sign-in page for a page.
 * And 403 for an account that was deleted while its session lived: the sign-in page would send them
 * back here.
 */
export function requireScope(context: Context): Promise<FullScope> {
  // All loaders of a page ask, and nothing changes between them. After an action it may have.
  if (context.get(incomingContext).method !== "GET") return openScope(context)
  const scope = scopes.get(context) ?? openScope(context)
  scopes.set(context, scope)
  return scope
}

const scopes = new WeakMap<Context, Promise<FullScope>>()

async function openScope(context: Context): Promise<FullScope> {
  const session = sessionOf(context)
  if (!session) throw refuseVisitor(context.get(urlContext))
  const shared = servicesOf(context)
  const services = { ...shared, db: shared.dbFor(session.userId) }
  try {
    const user = await findOrCreateUser(services, session)
    // What a program asks for says nothing of its owner.
    if (session.via !== "cookie") return { ...services, viewer: { session, user } }
    const reader = await noteLanguage(services, user, context.get(incomingContext).headers)
    return { ...services, viewer: { session, user: reader } }
  } catch (error) {
    if (!isRefusal(error)) throw error
    const { status, message } = error
    throw isApiPath(context.get(urlContext).pathname)
      ? json({ error: message }, { status })
      : data(message, { status })
  }
}

/**
 * Keeps what somebody chose in their browser with their record, and what the browser asks for where
 * nothing is known of them yet.
 */
async function noteLanguage(
  services: Services,
  user: User,
  { cookie, "accept-language": acceptLanguage }: IncomingHttpHeaders,
): Promise<User> {
  const language = chosenLanguage(cookie) ?? user.language ?? languageFor({ acceptLanguage })
  if (language !== user.language) await saveLanguage(services, user.clerkId, language)
  return { ...user, language }
}

/** What a visitor gets for what is not theirs to see. */
export function refuseVisitor(url: URL): Response {
  if (isApiPath(url.pathname)) return unauthorized()
  // As a document request, so that the identity provider may renew a session that has just run out.
  return redirectDocument(signInPath(url))
}
