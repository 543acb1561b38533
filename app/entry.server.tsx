import { PassThrough } from "node:stream"
import { createReadableStreamFromReadable } from "@react-router/node"
import { isbot } from "isbot"
import { renderToPipeableStream } from "react-dom/server"
import {
  ServerRouter,
  type EntryContext,
  type HandleErrorFunction,
  type RouterContextProvider,
} from "react-router"
import { failureContext, nonceContext, requestIdContext, servicesContext } from "#server/context.ts"
import { isRefusal } from "#server/errors.ts"
import { loggedPath } from "#server/http/logged-path.ts"

/** Parts of a page that are deferred are given up after this long. Milliseconds. */
export const streamTimeout = 10_000

/** Crawlers get the whole document at once; people get the frame of the page as soon as it is there. */
export default function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  routerContext: EntryContext,
  loadContext: RouterContextProvider,
) {
  const nonce = loadContext.get(nonceContext)
  headers.set("content-type", "text/html; charset=utf-8")
  if (request.method === "HEAD") return new Response(null, { status, headers })

  const isCrawler = isbot(request.headers.get("user-agent") ?? "")
  return new Promise<Response>((resolve, reject) => {
    let responseStatus = status
    let hasBegun = false
    const { pipe, abort } = renderToPipeableStream(
      <ServerRouter context={routerContext} url={request.url} nonce={nonce} />,
      {
        nonce,
        [isCrawler ? "onAllReady" : "onShellReady"]() {
          hasBegun = true
          const body = new PassThrough()
          body.once("close", () => clearTimeout(patience))
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
    // A second more than the parts have, so that their absence is still written into the page.
    const patience = setTimeout(abort, streamTimeout + 1000)
  })
}

/** Called for what a loader, an action or a page threw, apart from responses. */
export const handleError: HandleErrorFunction = (error, { request, context }) => {
  if (request.signal.aborted || isRefusal(error)) return
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
