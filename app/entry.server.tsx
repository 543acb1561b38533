import { PassThrough } from "node:stream"
import { createReadableStreamFromReadable } from "@react-router/node"
import { isbot } from "isbot"
import { renderToPipeableStream, renderToString } from "react-dom/server"
import {
  isRouteErrorResponse,
  ServerRouter,
  type EntryContext,
  type HandleErrorFunction,
  type RouterContextProvider,
} from "react-router"
import {
  failureContext,
  nonceContext,
  requestIdContext,
  servicesContext,
  sessionContext,
} from "#server/context.ts"
import { catalogues as hydrated } from "./language/de/hydrated.ts"
import { catalogues as still } from "./language/de/static.ts"
import { addMessages } from "./language/i18n.ts"
import { isRenderedInTurns } from "./features/markdown/turns.tsx"
import { NonceContext } from "./features/navigation/transition-failures.tsx"
import { ReaderContext, type Reader } from "./features/site/reader.ts"
import { scriptsAfterPaint } from "./features/site/scripts-after-paint.ts"
import { isRefusal } from "#server/errors.ts"
import { readLanguage } from "#server/transport/language.ts"
import { loggedPath } from "#server/transport/logged-path.ts"
import { SharedPage } from "#server/transport/page-cache.ts"
import { TextResponse } from "#server/transport/text-response.ts"
import { readTheme } from "#server/transport/theme.ts"

/** Milliseconds after which deferred parts of a page are aborted. */
export const streamTimeout = 10_000

addMessages("de", ...hydrated, ...still)

/** React's placeholder for a suspended part. */
const DEFERRED = "<!--$!-->"

/**
 * Sends a page in one piece, which costs half as much as a stream; only a page with deferred parts
 * is streamed.
 */
export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  routerContext: EntryContext,
  loadContext: RouterContextProvider,
): Promise<Response> {
  headers.set("content-type", "text/html; charset=utf-8")
  const reader = { language: readLanguage(request), theme: readTheme(request) }
  headers.set("content-language", reader.language)
  headers.append("vary", "accept-language, cookie")
  if (request.method === "HEAD") return new Response(null, { status, headers })

  if (takesLong(routerContext))
    return streamPage(request, { status, headers, reader }, routerContext, loadContext)

  const nonce = loadContext.get(nonceContext)
  const { serverHandoffStream: handoff, ...withoutHandoff } = routerContext
  const page = renderToString(
    <ReaderContext value={reader}>
      <NonceContext value={nonce}>
        <ServerRouter context={withoutHandoff} url={request.url} nonce={nonce} />
      </NonceContext>
    </ReaderContext>,
  )
  if (page.includes(DEFERRED))
    return streamPage(request, { status, headers, reader }, routerContext, loadContext)

  const scripts = withoutHandoff.renderMeta?.didRenderScripts ? await handOver(handoff, nonce) : ""
  const html = `<!DOCTYPE html>${beginLater(page).replace("</body></html>", () => `${scripts}</body></html>`)}`
  const isShared = isForEverybody(routerContext) && loadContext.get(sessionContext) === null
  return new (isShared ? SharedPage : TextResponse)(html, { status, headers })
}

/** A conversation with much in it. It suspends, so that others get their turn while it is rendered. */
function takesLong({ staticHandlerContext: { loaderData } }: EntryContext) {
  return Object.values<unknown>(loaderData).some(
    (loaded) =>
      typeof loaded === "object" &&
      loaded !== null &&
      "readings" in loaded &&
      isRenderedInTurns(loaded.readings),
  )
}

/**
 * Gives the style sheet and the font priority, even over a script that is requested immediately.
 * Development is left out, because Vite has scripts of its own.
 */
function beginLater(page: string): string {
  const lessUrgent = page.replaceAll(
    '<link rel="modulepreload"',
    '<link rel="modulepreload" fetchpriority="low"',
  )
  return import.meta.env.PROD ? scriptsAfterPaint(lessUrgent) : lessUrgent
}

/** Pages whose route has `handle = { shared: true }` look the same to every visitor. */
function isForEverybody({ staticHandlerContext: { matches, errors, actionData } }: EntryContext) {
  return (
    !errors &&
    !actionData &&
    matches.some(
      ({ route: { handle } }) => typeof handle === "object" && handle !== null && "shared" in handle,
    )
  )
}

/**
 * The loaders' data, in the scripts that hand it to React Router in the browser. They must match
 * those of its `ServerRouter`.
 */
async function handOver(handoff: EntryContext["serverHandoffStream"], nonce: string): Promise<string> {
  const data = await new Response(handoff).text()
  const script = (code: string) =>
    `<script nonce="${nonce}">window.__reactRouterContext.streamController.${code}</script>`
  return script(`enqueue(${escapeMarkup(JSON.stringify(data))});`) + script("close();")
}

/** Escapes JSON for a script element. */
function escapeMarkup(json: string): string {
  return json.replace(
    /[&<>\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}

/**
 * Sends crawlers the whole document, and browsers the frame of the page as soon as it is rendered.
 */
function streamPage(
  request: Request,
  { status, headers, reader }: { status: number; headers: Headers; reader: Reader },
  routerContext: EntryContext,
  loadContext: RouterContextProvider,
) {
  const nonce = loadContext.get(nonceContext)
  const isCrawler = isbot(request.headers.get("user-agent") ?? "")
  return new Promise<Response>((resolve, reject) => {
    let responseStatus = status
    let hasBegun = false
    const { pipe, abort } = renderToPipeableStream(
      <ReaderContext value={reader}>
        <NonceContext value={nonce}>
          <ServerRouter context={routerContext} url={request.url} nonce={nonce} />
        </NonceContext>
      </ReaderContext>,
      {
        nonce,
        [isCrawler ? "onAllReady" : "onShellReady"]() {
          hasBegun = true
          const body = new PassThrough()
          body.once("close", () => clearTimeout(timer))
          resolve(new Response(createReadableStreamFromReadable(body), { status: responseStatus, headers }))
          pipe(body)
        },
        onShellError: reject,
        onError(error) {
          responseStatus = 500
          if (hasBegun && !request.signal.aborted) {
            loadContext
              .get(servicesContext)
              .log.error({ err: error }, "a part of a page could not be rendered")
          }
        },
      },
    )
    // A second more than the deferred parts have, so that their errors are still written into the
    // page.
    const timer = setTimeout(abort, streamTimeout + 1000)
  })
}

/** Called for anything that a loader, an action or a page throws, except responses. */
export const handleError: HandleErrorFunction = (error, { request, context }) => {
  if (request.signal.aborted || isRefusal(error)) return
  // Refused by React Router itself, such as a form posted to a page without an action. Any client
  // can cause it.
  if (isRouteErrorResponse(error) && error.status < 500) return
  context.set(failureContext, error)
  context.get(servicesContext).log.error(
    {
      err: error,
      requestId: context.get(requestIdContext),
      path: loggedPath(new URL(request.url).pathname),
    },
    "a request failed",
  )
}
