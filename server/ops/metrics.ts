import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client"
import type { Answered } from "../http/listener.ts"
import { BOUNDS, type Distribution, type Measured } from "../realtime/metrics.ts"
import type { Scope } from "../scope.ts"
import { version } from "../version.ts"
import { withinPatience } from "./patience.ts"
import { countQueued } from "./queued.ts"

/** Seconds. Streams of answers and uploads take long, and are meant to. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120]

/** What Prometheus reads of one process. */
export function createOpsMetrics(scope: Scope<"db" | "live" | "log" | "turns">) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: "tideline_" })
  const requests = new Histogram({
    name: "tideline_http_request_duration_seconds",
    help: "Answered requests, by the pattern of their route.",
    labelNames: ["method", "route", "status"],
    buckets: DURATIONS,
    registers: [],
  })
  const turns = new Gauge({
    name: "tideline_chat_turns_running",
    help: "Answers that this process is giving.",
    registers: [],
    collect() {
      this.set(scope.turns.count())
    },
  })
  const queued = new Gauge({
    name: "tideline_queued",
    help: "What waits in the database for any process: by kind.",
    labelNames: ["kind"],
    registers: [],
    async collect() {
      this.reset()
      // Without the database there are no counts, and all the rest is what one wants to see then.
      const counts = await withinPatience(countQueued(scope)).catch(() => ({}))
      for (const [kind, count] of Object.entries(counts)) this.set({ kind }, count)
    },
  })
  const build = new Gauge({
    name: "tideline_build_info",
    help: "Always 1. Its labels say which Tideline this is.",
    labelNames: ["version", "commit"],
    registers: [],
  })
  build.set({ version: version.number, commit: version.commit ?? "unknown" }, 1)
  for (const metric of [requests, turns, queued, build]) registry.registerMetric(metric)

  return {
    type: registry.contentType,
    answered({ method, route, status, milliseconds }: Answered) {
      requests.observe({ method, route, status }, milliseconds / 1000)
    },
    async read(): Promise<string> {
      return `${await registry.metrics()}\n${scope.live.measured().map(describeMeasured).join("\n")}\n`
    },
  }
}

/** The realtime layer counts for itself; this is its account in Prometheus' text format 0.0.4. */
function describeMeasured({ kind, name, value }: Measured): string {
  if (kind === "distribution") return describeDistribution(name, value)
  const full = `tideline_realtime_${name}${kind === "counter" ? "_total" : ""}`
  return `# TYPE ${full} ${kind}\n${full} ${value}`
}

function describeDistribution(name: string, { count, sum, buckets }: Distribution): string {
  const full = `tideline_realtime_${name.replace(/_ms$/, "_seconds")}`
  let below = 0
  const steps = BOUNDS.map((bound, index) => {
    below += buckets[index] ?? 0
    return `${full}_bucket{le="${bound / 1000}"} ${below}`
  })
  return [
    `# TYPE ${full} histogram`,
    ...steps,
    `${full}_bucket{le="+Inf"} ${count}`,
    `${full}_sum ${sum / 1000}`,
    `${full}_count ${count}`,
  ].join("\n")
}
