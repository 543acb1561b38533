import type { IncomingHttpHeaders } from "node:http"
import { data, redirectDocument, type RouterContextProvider } from "react-router"
import { incomingContext, servicesContext, sessionContext, urlContext } from "#server/context.ts"
import { refusesWrites } from "#live/check"
import type { User } from "#db/schema/users.ts"
import { dataOf, isRefusal } from "#server/errors.ts"
import type { Session } from "#server/ports/session.ts"
import type { FullScope, Services } from "#server/scope.ts"
import { saveLanguage } from "#server/users/language.ts"
import { findOrCreateUser, unsavedUser } from "#server/users/users.ts"
import { json } from "#server/transport/json.ts"
import { refusalBody } from "#server/transport/refusals.ts"
import { chosenLanguage, languageFor } from "#server/transport/language.ts"
import { isApiPath } from "#server/transport/paths.ts"
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
 * The services and the signed-in caller, whose record is created here if it is missing. Throws the
 * response if nobody is signed in: 401 for the API, a redirect to the sign-in page for a page. And
 * 403 for an account that was deleted while its session lived, because the sign-in page would
 * redirect back here.
 */
export function requireScope(context: Context): Promise<FullScope> {
  // All loaders of a page call this, and nothing changes between them. After an action it may have.
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
    const user = await findOrCreateUser(services, session).catch((error: unknown) => {
      if (!reads(context) || !refusesWrites(error)) throw error
      return unsavedUser(services, session)
    })
    // A program's requests say nothing about its owner.
    if (session.via !== "cookie") return { ...services, viewer: { session, user } }
    const reader = await noteLanguage(services, user, context.get(incomingContext).headers)
    return { ...services, viewer: { session, user: reader } }
  } catch (error) {
    if (!isRefusal(error)) throw error
    const { status } = error
    throw isApiPath(context.get(urlContext).pathname)
      ? json(refusalBody(error), { status })
      : data(dataOf(error), { status })
  }
}

/** What is read is shown also if the database refuses to write what is noted with it. */
function reads(context: Context): boolean {
  return ["GET", "HEAD"].includes(context.get(incomingContext).method ?? "")
}

/**
 * Stores the choices made in the browser in the person's record, and the browser's preferences if
 * nothing is known of the person yet.
 */
async function noteLanguage(
  services: Services,
  user: User,
  { cookie, "accept-language": acceptLanguage }: IncomingHttpHeaders,
): Promise<User> {
  const language = chosenLanguage(cookie) ?? user.language ?? languageFor({ acceptLanguage })
  if (language !== user.language)
    await saveLanguage(services, user.clerkId, language).catch((error: unknown) => {
      // Their next request tries it again.
      if (!refusesWrites(error)) throw error
    })
  return { ...user, language }
}

/** The response to a visitor for something private. */
export function refuseVisitor(url: URL): Response {
  if (isApiPath(url.pathname)) return unauthorized()
  // As a document request, so that the identity provider may renew a session that has just expired.
  return redirectDocument(signInPath(url))
}
