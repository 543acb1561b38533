import { once } from "node:events"
import type { Server } from "node:http"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { ConfigError, readConfig } from "./config.ts"
import { loadEnvironment } from "./environment.ts"
import { affordableConnections, limitConnections, type Connections } from "./transport/connections.ts"
import { prepareDrain } from "./transport/drain.ts"
import { createHttpServer, serveRequests, type Front } from "./transport/listener.ts"
import { openLog, type Log } from "./log.ts"
import type { MaintenanceMode } from "./maintenance/maintenance-mode.ts"
import type { Services } from "./scope.ts"
import { createOpsMetrics } from "./ops/metrics.ts"
import { openOpsServer } from "./ops/ops-server.ts"
import { LIMITS } from "#live/check"
import { openServices } from "./services.ts"
import { describeStart, tell } from "./terminal.ts"
import { version } from "./version.ts"

export interface Program {
  /** The folder with package.json. */
  root: string
  /** The source of the application and its files: the build, or Vite in development. */
  openFront: (services: Services, server: Server) => Promise<Front>
}

/**
 * Connections that may wait to be accepted: after the server was away, all its sockets reconnect at
 * the same time.
 */
const CONNECTIONS_AT_ONCE = 4096

/**
 * Connections that may be open. Offices share an address, and so do all clients behind a proxy that
 * TRUSTED_PROXIES does not name: the limit fits their live connections, which are refused with a
 * message, and as many others.
 */
const MOST_CONNECTIONS = 20_000
const MOST_OF_AN_ADDRESS = 2 * LIMITS.maxConnectionsPerAddress

/**
 * After requests are no longer accepted, how long running ones may take to finish, and how long
 * shutdown may take in total. Milliseconds.
 */
const DRAIN = 25_000
const LAST_RESORT = 30_000

/**
 * Runs the process: reads the settings, opens the services, listens, and drains on SIGTERM, SIGINT,
 * or SIGHUP, which a closed terminal sends. A second signal ends it immediately. Never returns.
 */
export async function runTideline(program: Program): Promise<never> {
  const stopRequested = nextSignal()
  try {
    const { config, isFirst } = readSettings(program.root)
    const log = openLog(config.logLevel)
    endOnDefects(log)
    tell(config.database.kind === "embedded" ? "Starting PostgreSQL and Tideline." : "Starting Tideline.")
    const { services, maintenance, inbox, close } = await openServices(
      config,
      log,
      join(program.root, "db/migrations"),
    )
    try {
      await serveUntil(stopRequested, program, services, maintenance, () =>
        tell(describeStart({ config, inbox, isFirst })),
      )
    } finally {
      await close()
    }
    log.info("stopped")
    process.exit(0)
  } catch (error) {
    process.stderr.write(`\nTideline has stopped.\n${describe(error)}\n`)
    process.exit(1)
  }
}

function readSettings(root: string) {
  const file = ".env"
  const hadFile = existsSync(file)
  const config = readConfig(loadEnvironment({ file, example: join(root, ".env.example") }, process.env))
  const isFirst = !hadFile && existsSync(file)
  if (isFirst) tell("Wrote the settings to .env, with new secrets.")
  return { config, isFirst }
}

async function serveUntil(
  stopRequested: Promise<string>,
  { openFront }: Program,
  services: Services,
  { refuseIfClosed }: MaintenanceMode,
  onReady: () => void,
) {
  const { config, log } = services
  const server = createHttpServer()
  const limits = {
    most: affordableConnections(MOST_CONNECTIONS),
    perAddress: MOST_OF_AN_ADDRESS,
    trustsProxy: config.trustsProxy,
  }
  const connections = limitConnections(server, limits, log)
  const drain = prepareDrain(server)
  const front = await openFront(services, server)
  const ops = await openOps(stopRequested, services, connections)
  const { tracing } = services
  serveRequests(server, {
    config,
    log,
    front,
    refuseIfClosed,
    tracing,
    ...(ops && { answered: ops.answered }),
  })
  services.live.attach(server)
  await listen(server, config.port, config.host)
  log.info(
    { url: config.origin, pid: process.pid, version: version.number, commit: version.commit },
    "Tideline is ready",
  )
  onReady()

  const signal = await stopRequested
  tell("\nStopping: running requests finish first.")
  drain.begin()
  if (config.drainDelay > 0) {
    log.info(
      { signal, milliseconds: config.drainDelay },
      "draining: /readyz fails, and requests are still accepted",
    )
    await sleep(config.drainDelay)
  }
  log.info({ signal }, "stopping; finishing running requests")
  setTimeout(() => process.exit(1), LAST_RESORT).unref()
  services.uploadLocks.interrupt()
  services.demo?.close()
  await Promise.all([services.live.close(), drain.finish(DRAIN)])
  await front.close()
  await ops?.close()
}

/** Probes and metrics, if a port is set for them. They are served until the end. */
async function openOps(stopRequested: Promise<string>, services: Services, connections: Connections) {
  const { ops } = services.config
  if (!ops) return null
  let stopping = false
  void stopRequested.then(() => (stopping = true))
  const metrics = createOpsMetrics(services, connections)
  const server = await openOpsServer(services, { ...ops, metrics, isStopping: () => stopping }).catch(
    explainPort("OPS_PORT", ops.port),
  )
  services.log.info({ port: ops.port }, "serving probes and metrics")
  return { answered: metrics.answered, close: server.close }
}

async function listen(server: Server, port: number, host: string) {
  server.listen({ port, host, backlog: CONNECTIONS_AT_ONCE })
  await once(server, "listening").catch(explainPort("PORT", port))
}

function explainPort(setting: "PORT" | "OPS_PORT", port: number) {
  return (error: unknown): never => {
    if (codeOf(error) === "EADDRINUSE") {
      throw new Error(
        `Port ${port} is in use by another program. Stop that, or set ${setting} to another number.`,
        { cause: error },
      )
    }
    if (codeOf(error) === "EACCES")
      throw new Error(`Permission to use port ${port} was denied. Set ${setting} to a port above 1023.`, {
        cause: error,
      })
    throw error
  }
}

/**
 * How often one Ctrl+C arrives: `node --watch` forwards to its child what the terminal has already
 * sent.
 */
const SIGNALS_OF_ONE_REQUEST = process.env["WATCH_REPORT_DEPENDENCIES"] ? 2 : 1

function nextSignal() {
  return new Promise<string>((resolve) => {
    let received = 0
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.on(signal, () => {
        received += 1
        if (received > SIGNALS_OF_ONE_REQUEST) process.exit(130)
        resolve(signal)
      })
    }
  })
}

/**
 * After an unhandled error the state of the process is unknown: it exits, and its supervisor starts
 * a new one.
 */
function endOnDefects(log: Log) {
  const end = (error: unknown) => {
    log.fatal({ err: error }, "exiting after an unhandled error")
    process.exit(1)
  }
  process.on("uncaughtException", end)
  process.on("unhandledRejection", end)
}

function describe(error: unknown) {
  if (!(error instanceof Error)) return String(error)
  return error instanceof ConfigError || process.env["LOG_LEVEL"] !== "debug" ? error.message : error.stack
}

function codeOf(error: unknown) {
  return error instanceof Error && "code" in error ? error.code : undefined
}
