import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { Scope } from "#server/scope.ts"
import type { createOpsMetrics } from "./metrics.ts"
import { checkReadiness } from "./readiness.ts"

export interface OpsServerOptions {
  port: number
  host: string
  metrics: ReturnType<typeof createOpsMetrics>
  /**
   * Whether the process was told to stop: load balancers must stop using it before the port closes.
   */
  isStopping: () => boolean
}

/**
 * Serves probes and metrics on a port of its own, which must not be public: `/livez` says whether
 * the process runs, `/readyz` whether it can serve, and `/metrics` is for Prometheus. None of them
 * has a limit or exposes personal data.
 */
export async function openOpsServer(
  scope: Scope<"probe" | "live" | "log" | "replies">,
  { port, host, metrics, isStopping }: OpsServerOptions,
) {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, (request, response) => {
    answer(request.method ?? "", request.url?.split("?", 1)[0] ?? "", response).catch((error: unknown) => {
      scope.log.error({ err: error }, "could not answer a probe")
      if (!response.headersSent) send(response, 500, "text/plain", "Internal server error\n")
    })
  })
  server.listen({ port, host })
  await once(server, "listening")
  return {
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }

  async function answer(method: string, path: string, response: ServerResponse) {
    if (method !== "GET" && method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD")
      return send(response, 405, "text/plain", "Ask with GET.\n")
    }
    switch (path) {
      case "/livez":
        return send(response, 200, "text/plain", "ok\n")
      case "/readyz": {
        if (isStopping()) return send(response, 503, "application/json", '{"ready":false,"stopping":true}\n')
        const readiness = await checkReadiness(scope)
        return send(
          response,
          readiness.ready ? 200 : 503,
          "application/json",
          `${JSON.stringify(readiness)}\n`,
        )
      }
      case "/metrics":
        return send(response, 200, metrics.type, await metrics.read())
      default:
        return send(response, 404, "text/plain", "There is /livez, /readyz and /metrics.\n")
    }
  }
}

function send(response: ServerResponse, status: number, type: string, body: string) {
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  })
  response.end(body)
}
