import type { IncomingMessage } from "node:http"
import { json } from "#server/transport/json.ts"
import { languageFor } from "#server/transport/language.ts"
import { isApiPath, pagePath } from "#server/transport/paths.ts"
import { themeIn } from "#server/transport/theme.ts"
import type { LiveRow, RowOf } from "#live/contract"
import type { Scope } from "#server/scope.ts"
import { findClosure, isPass, type Closure } from "./closure.ts"
import { closureList } from "./live.ts"
import { bodyOf } from "#server/transport/refusals.ts"
import { closedPage } from "./page.ts"

/** Whether requests are let in. Each process tracks it through the WAL, like any other row. */
export interface MaintenanceMode {
  /** The response for a request that is not let in. `nonce` is the one for its styles. */
  refuseIfClosed(incoming: IncomingMessage, nonce: string): Response | null
  close(): void
}

/** The part of the realtime layer that is used here. */
interface Live {
  follow(question: { query: string; args: unknown }, onRows: (rows: readonly LiveRow[]) => void): () => void
  admitOnly(isAdmitted: ((request: IncomingMessage) => boolean) | null): void
}

/** Seconds. */
const RETRY_AFTER = 60

const COOKIE = "tideline-maintenance"

export async function watchMaintenance(scope: Scope<"db" | "config">, live: Live): Promise<MaintenanceMode> {
  const { config } = scope
  let closure: Closure | null = null
  const take = (next: Closure | null) => {
    const isOther = next?._id !== closure?._id
    closure = next
    if (isOther) live.admitOnly(next && ((request) => isAdmitted(request, next)))
  }
  take(await findClosure(scope))
  const unfollow = live.follow({ query: closureList.name, args: {} }, (rows) => {
    // The engine delivers rows of the query that was named.
    take((rows as readonly RowOf<typeof closureList>[])[0] ?? null)
  })
  return { refuseIfClosed, close: unfollow }

  function refuseIfClosed(incoming: IncomingMessage, nonce: string): Response | null {
    if (!closure || isAdmitted(incoming, closure)) return null
    // An invalid URL is refused as the home page would be.
    const url = URL.parse(incoming.url ?? "/", config.origin) ?? new URL(config.origin)
    // It reports that the process serves, which is true.
    if (/^\/api\/health\/?$/i.test(url.pathname)) return null
    return admit(url, closure) ?? refuse(url, incoming, closure, nonce)
  }

  /** For the URL that the command prints. */
  function admit({ pathname }: URL, current: Closure): Response | null {
    const [, pass] = /^\/maintenance\/([\w-]+)$/.exec(pathname) ?? []
    if (pass === undefined || !isPass(config, current, pass)) return null
    const secure = config.origin.startsWith("https:") ? "; Secure" : ""
    const cookie = `${COOKIE}=${pass}; Path=/; HttpOnly; SameSite=Lax${secure}`
    return new Response(null, {
      status: 303,
      headers: { location: "/", "set-cookie": cookie, "cache-control": "no-store" },
    })
  }

  function isAdmitted({ headers }: IncomingMessage, current: Closure): boolean {
    const [, pass] = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]+)`).exec(headers.cookie ?? "") ?? []
    return pass !== undefined && isPass(config, current, pass)
  }
}

function refuse(url: URL, { method, headers }: IncomingMessage, closure: Closure, nonce: string): Response {
  const init = {
    status: 503,
    headers: { "retry-after": String(RETRY_AFTER), "cache-control": "no-store" } as Record<string, string>,
  }
  if (isApiPath(url.pathname))
    return json(closure.message === null ? bodyOf("maintenance") : { error: closure.message }, init)
  if (url.pathname.endsWith(".data"))
    return reload(method === "GET" ? addressOf(url) : pageBefore(url, headers.referer))
  const language = languageFor({ cookie: headers.cookie, acceptLanguage: headers["accept-language"] })
  init.headers["content-type"] = "text/html; charset=utf-8"
  init.headers["content-language"] = language
  init.headers["vary"] = "accept-language, cookie"
  const page = { message: closure.message, language, nonce, theme: themeIn(headers.cookie) }
  return new Response(closedPage({ ...page, retryAfter: RETRY_AFTER }), init)
}

/**
 * An open page requests data in React Router's format: this makes it load a document, which says
 * why.
 */
function reload(address: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "x-remix-redirect": address,
      "x-remix-status": "302",
      "x-remix-reload-document": "true",
      "x-remix-replace": "true",
      "cache-control": "no-store",
    },
  })
}

function addressOf(url: URL): string {
  const search = new URLSearchParams(url.search)
  search.delete("_routes")
  return pagePath(url) + (search.size > 0 ? `?${search}` : "")
}

/** The page that a form was sent from: its target may not be a page. */
function pageBefore(url: URL, referer = ""): string {
  const before = URL.parse(referer)
  return before?.host === url.host ? before.pathname + before.search : "/"
}
