import { performance } from "node:perf_hooks"
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client"
import type { Connections } from "#server/transport/connections.ts"
import type { RespondedRequest } from "#server/transport/listener.ts"
import type { Scope } from "#server/scope.ts"
import { version } from "#server/version.ts"
import { findFreeSpace } from "./disk.ts"
import { withinProbeTimeout } from "./probe-timeout.ts"
import { countQueued } from "./queued.ts"
import { describeRealtime } from "./realtime-metrics.ts"

/** Seconds. Streamed replies and uploads legitimately take long. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120]

/** The metrics of one process for Prometheus. */
export function createOpsMetrics(
  scope: Scope<
    "identity" | "probe" | "live" | "turns" | "replies" | "backups" | "certificate" | "config" | "history"
  >,
  connections: Connections,
) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: "tideline_" })
  const build = new Gauge({
    name: "tideline_build_info",
    help: "Always 1. The labels give the version and the commit.",
    labelNames: ["version", "commit"],
    registers: [registry],
  })
  build.set({ version: version.number, commit: version.commit ?? "unknown" }, 1)
  const requests = new Histogram({
    name: "tideline_http_request_duration_seconds",
    help: "Duration of requests, by method, route pattern and status.",
    labelNames: ["method", "route", "status"],
    buckets: DURATIONS,
    registers: [registry],
  })
  measureConnections(registry, connections)
  measureEventLoop(registry)
  measureTurns(registry, scope)
  measureSignIns(registry, scope)
  measureModel(registry, scope)
  measureBackups(registry, scope)
  measureDisk(registry, scope)
  gauge(
    registry,
    "tideline_certificate_expires_time_seconds",
    "When the certificate of the public URL expires, as a Unix time; 0 without HTTPS, or if it could not be read.",
    () => (scope.certificate.current()?.expiresAt ?? 0) / 1000,
  )
  const countAgain = measureQueued(registry, scope)

  return {
    type: registry.contentType,
    answered({ method, route, status, milliseconds }: RespondedRequest) {
      requests.observe({ method, route, status }, milliseconds / 1000)
    },
    async read(): Promise<string> {
      await countAgain()
      return `${await registry.metrics()}\n${describeRealtime(scope.live.measured())}`
    },
  }
}

function measureConnections(registry: Registry, connections: Connections) {
  gauge(registry, "tideline_http_connections_open", "Open connections, live ones included.", () =>
    connections.open(),
  )
  gauge(
    registry,
    "tideline_http_connections_waiting",
    "Open connections whose next request has not arrived completely.",
    () => connections.waiting(),
  )
  counter(
    registry,
    "tideline_http_connections_refused_total",
    "Connections closed because an address, or the process, had too many.",
    "reason",
    () => connections.refused(),
  )
}

function measureEventLoop(registry: Registry) {
  let before = performance.eventLoopUtilization()
  gauge(
    registry,
    "tideline_eventloop_utilization",
    "Share of the time since the last scrape in which the event loop was busy.",
    () => {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      return utilization
    },
  )
}

function measureTurns(registry: Registry, { turns }: Scope<"turns">) {
  gauge(registry, "tideline_chat_turns_running", "Answers that this process is giving.", () => turns.count())
  counter(
    registry,
    "tideline_chat_turns_ended_total",
    "Replies of this process, by how they ended.",
    "status",
    () => turns.ended(),
  )
}

function measureSignIns(registry: Registry, { identity }: Scope<"identity">) {
  counter(
    registry,
    "tideline_sign_ins_total",
    "Successful sign-ins handled by this process, by method.",
    "way",
    () => identity.countSignIns?.() ?? {},
  )
}

function measureModel(registry: Registry, { replies }: Scope<"replies">) {
  return new Gauge({
    name: "tideline_model_refusing_since_seconds",
    help: "Unix time since when the model server has refused the requests of this process, by HTTP status; 0 if it does not refuse them.",
    labelNames: ["status"],
    registers: [registry],
    collect() {
      this.reset()
      const trouble = replies.trouble.current()
      this.set({ status: trouble?.status ?? "none" }, trouble ? trouble.since / 1000 : 0)
    },
  })
}

function measureBackups(registry: Registry, { backups, history }: Scope<"backups" | "history">) {
  gauge(
    registry,
    "tideline_backup_overdue_seconds",
    "For how long a scheduled backup has been due; 0 if none is, or none are scheduled.",
    () => backups.overdue() / 1000,
  )
  gauge(
    registry,
    "tideline_backup_newest_time_seconds",
    "When the newest checked backup was taken, as a Unix time; 0 if there is none, or none are scheduled.",
    () => backups.newest() / 1000,
  )
  gauge(
    registry,
    "tideline_backup_copy_overdue_seconds",
    "How old the newest checked backup is that the bucket of BACKUP_URL lacks; 0 if it has it, or there is no bucket.",
    () => backups.copyOverdue() / 1000,
  )
  gauge(
    registry,
    "tideline_history_behind_seconds",
    "For how long the history could not be kept; 0 if it is, or none is kept.",
    () => history.behind() / 1000,
  )
  gauge(
    registry,
    "tideline_history_since_time_seconds",
    "The earliest moment that can be restored, as a Unix time; 0 if there is none, or no history is kept.",
    () => history.since() / 1000,
  )
}

/** Missing if this process stores no data on a disk of its own. */
function measureDisk(registry: Registry, { config }: Scope<"config">) {
  return new Gauge({
    name: "tideline_disk_free_bytes",
    help: "Free bytes where this process stores its data.",
    registers: [registry],
    async collect() {
      const space = await findFreeSpace(config).catch(() => null)
      if (space) this.set(space.free)
      else this.remove()
    },
  })
}

/** Metrics from the database, refreshed each time the returned function is called. */
function measureQueued(registry: Registry, { probe }: Scope<"probe">) {
  const registers = [registry]
  const queued = new Gauge({
    name: "tideline_queued",
    help: "Replies and uploads in progress, in all processes.",
    labelNames: ["kind"],
    registers,
  })
  const emails = new Gauge({
    name: "tideline_outbox_emails",
    help: "Queued and parked emails, of all processes.",
    labelNames: ["state"],
    registers,
  })
  const oldest = new Gauge({
    name: "tideline_outbox_oldest_seconds",
    help: "Age of the oldest queued email; 0 if there is none.",
    registers,
  })
  const bytes = new Gauge({
    name: "tideline_files_bytes",
    help: "Bytes used by files, and bytes reserved for uploads.",
    labelNames: ["state"],
    registers,
  })

  const damaged = new Gauge({
    name: "tideline_damaged_blobs",
    help: "1 for each of the first 100 blobs whose bytes are known to be missing or damaged; 0 if there are none.",
    labelNames: ["key", "damage"],
    registers,
  })

  return async () => {
    const counts = await withinProbeTimeout(countQueued({ db: probe })).catch(() => null)
    for (const each of [queued, emails, oldest, bytes, damaged]) each.reset()
    // Without the database these counts are missing; the rest is what one wants to see then.
    if (!counts) return oldest.remove()
    for (const kind of ["turns", "uploads"] as const) queued.set({ kind }, counts[kind])
    for (const state of ["queued", "parked"] as const) emails.set({ state }, counts.emails[state])
    for (const state of ["used", "reserved"] as const) bytes.set({ state }, counts.bytes[state])
    for (const each of counts.damaged) damaged.set(each, 1)
    if (counts.damaged.length === 0) damaged.set({ key: "none", damage: "none" }, 0)
    oldest.set(counts.emails.oldestSeconds)
  }
}

function gauge(registry: Registry, name: string, help: string, read: () => number) {
  return new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read())
    },
  })
}

/** A metric that something else counts, with one label. */
function counter<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  label: Label,
  read: () => Record<string, number>,
) {
  return new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset()
      for (const [value, count] of Object.entries(read())) this.inc({ [label]: value } as never, count)
    },
  })
}
