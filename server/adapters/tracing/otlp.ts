import { AsyncLocalStorage } from "node:async_hooks"
import type { IncomingHttpHeaders } from "node:http"
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type TextMapGetter,
} from "@opentelemetry/api"
import { W3CTraceContextPropagator } from "@opentelemetry/core"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http"
import { resourceFromAttributes } from "@opentelemetry/resources"
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace"
import type { TrustsProxy } from "#server/transport/client-address.ts"
import { loggedPath } from "#server/transport/logged-path.ts"
import type { Tracing } from "#server/ports/tracing.ts"

interface OtlpOptions {
  /** The collector's URL, without `/v1/traces`. */
  endpoint: string
  headers: Record<string, string>
  service: string
  /** The share of requests to trace if no trusted sender has decided, from 0 to 1. */
  part: number
  version: string
  /**
   * Continues the trace of `traceparent` only if a trusted network sent it: anyone can write the
   * header.
   */
  trustsProxy: TrustsProxy | null
}

/** Milliseconds between batches. */
const BATCH = 1000

const FIELDS: TextMapGetter<IncomingHttpHeaders> = {
  get: (headers, name) => headers[name],
  keys: (headers) => Object.keys(headers),
}

/**
 * Sends spans to an OpenTelemetry collector over HTTP, in batches. If the collector cannot be
 * reached, only spans are lost.
 */
export function openOtlpTracing(options: OtlpOptions): Tracing {
  const { endpoint, headers, service, part, version, trustsProxy } = options
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": service, "service.version": version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(part) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: BATCH })],
  })
  const tracer = provider.getTracer("tideline", version)
  const propagator = new W3CTraceContextPropagator()
  const going = new AsyncLocalStorage<Context>()

  const begin: Tracing["begin"] = (name, attributes) => {
    const parent = going.getStore()
    // Background work, such as checking for emails every second, is not traced.
    if (!parent) return () => {}
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent)
    return (failure) => end(span, failure)
  }

  return {
    async request(incoming, outgoing, routeOf, work) {
      const { method = "GET", headers: carrier, socket } = incoming
      const isTrusted = trustsProxy?.(socket.remoteAddress ?? "", 0) ?? false
      const parent = isTrusted ? propagator.extract(ROOT_CONTEXT, carrier, FIELDS) : ROOT_CONTEXT
      const attributes = { "http.request.method": method, "url.path": loggedPath(incoming.url ?? "") }
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent)
      outgoing.once("close", () => {
        const route = routeOf()
        if (route !== null) span.updateName(`${method} ${route}`).setAttribute("http.route", route)
        span.setAttribute("http.response.status_code", outgoing.statusCode)
        span.setAttribute("tideline.request_id", String(outgoing.getHeader("x-request-id")))
        if (outgoing.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      })
      return going.run(trace.setSpan(parent, span), work)
    },
    async part(name, attributes, work) {
      const done = begin(name, attributes)
      try {
        const result = await work()
        done()
        return result
      } catch (error) {
        done(error)
        throw error
      }
    },
    begin,
    close: () => provider.shutdown().catch(() => {}),
  }
}

/**
 * Records the kind of a failure, but not its message, which may contain values of the statement.
 */
function end(span: Span, failure: unknown) {
  if (failure !== undefined) {
    span.setAttribute("error.type", failure instanceof Error ? failure.name : "unknown")
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
