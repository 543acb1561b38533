import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer as createVite } from "vite"
import { runTideline } from "./index.ts"

/**
 * The process with Vite: the modules that Vite loads (app/ and its imports) are replaced while it
 * runs.
 */
export async function runDevelopment(root: string) {
  await runTideline({
    root,
    openFront: async (services, server) => {
      const vite = await keepingSignals(() =>
        createVite({
          root,
          appType: "custom",
          clearScreen: false,
          server: { middlewareMode: true, hmr: { server } },
        }),
      )
      return {
        handle: async (request, exchange) => {
          const { createApp } = (await vite.ssrLoadModule("/server/app.ts")) as typeof import("./app.ts")
          return createApp(services).handle(request, exchange)
        },
        sendPage: () => null,
        serveFile: (incoming, outgoing) => serveWith(vite.middlewares, incoming, outgoing),
        close: () => vite.close(),
      }
    },
  })
}

/**
 * Removes the listeners that Vite adds at its start: they would end the process before it has
 * drained.
 */
async function keepingSignals<Result>(start: () => Promise<Result>) {
  const ours = process.listeners("SIGTERM")
  const result = await start()
  for (const listener of process.listeners("SIGTERM")) {
    if (!ours.includes(listener)) process.off("SIGTERM", listener)
  }
  return result
}

type Middleware = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next: (error?: unknown) => void,
) => void

function serveWith(middleware: Middleware, incoming: IncomingMessage, outgoing: ServerResponse) {
  return new Promise<boolean>((resolve, reject) => {
    outgoing.once("close", () => resolve(true))
    middleware(incoming, outgoing, (error) => {
      if (error) reject(error)
      else resolve(false)
    })
  })
}
