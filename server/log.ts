import { pino, type DestinationStream, type Logger } from "pino"
import { isLost, reasonOf } from "#live/postgres/outage.ts"
import { describeEntry, isTerminal, outliveTerminal } from "./terminal.ts"

export type Log = Logger

/**
 * JSON lines on standard output. Levels: trace, debug, info, warn, error, silent. A terminal gets
 * readable text instead, and at `info` only warnings and errors: a line per request would hide
 * them.
 */
export function openLog(level: string): Log {
  const options = {
    level: isTerminal && level === "info" ? "warn" : level,
    base: null,
    timestamp: createTimestamp(),
    redact: ["*.authorization", "*.cookie", "*.token", "*.password"],
    serializers: { err: describeError },
  }
  return pino(options, (output ??= openOutput()))
}

/** One for the whole process. */
let output: DestinationStream | undefined

/** Lines of one event-loop turn are written together; at exit, whatever is buffered. */
function openOutput(): DestinationStream {
  const standard = pino.destination({ dest: 1, sync: true })
  standard.on("error", outliveTerminal)
  let lines = ""
  const flush = () => {
    if (lines !== "") standard.write(lines)
    lines = ""
  }
  process.on("exit", flush)
  return {
    write(line) {
      if (lines === "") setImmediate(flush)
      lines += isTerminal ? describeEntry(line) : line
    },
  }
}

/** Like pino's own `isoTime`; lines of the same millisecond share the text. */
function createTimestamp() {
  let moment = 0
  let text = ""
  return () => {
    const now = Date.now()
    if (now !== moment) {
      moment = now
      text = `,"time":"${new Date(now).toISOString()}"`
    }
    return text
  }
}

/** The values of a failed statement: session tokens, emails, people's texts. */
const VALUES = ["params", "parameters", "args", "detail"]

/** An error with its causes, without the values of the statement that failed. */
export function describeError(error: unknown) {
  if (!(error instanceof Error)) return error
  const described = pino.stdSerializers.err(error)
  // A database that is away is no defect of ours: where it was missed says nothing.
  if (isLost(error)) return { type: described.type, message: reasonOf(error) }
  for (const name of VALUES) delete described[name]
  for (const failed of withCauses(error)) {
    // Drizzle writes them into its message.
    if (!("query" in failed) || !("params" in failed)) continue
    const said = `\nparams: ${String(failed.params)}`
    described.message = described.message.replaceAll(said, "")
    described.stack = described.stack.replaceAll(said, "")
  }
  return described
}

function* withCauses(error: Error): Generator<Error> {
  let cause: unknown = error
  for (let depth = 0; cause instanceof Error && depth < 10; depth++) {
    yield cause
    cause = cause.cause
  }
}

/** The part of a log that `createFailureLog` uses. */
interface Writes {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface FailureLog {
  /**
   * Logs the failure unless this one, with the same reason, was logged since the last success;
   * counts it in any case.
   */
  failed(level: "warn" | "error", error: unknown, message: string, details?: object): void
  /** After failures, logs their number and duration. */
  succeeded(): void
}

/**
 * For work that is retried automatically: an outage of an hour produces two lines, not thousands.
 * `recovered` is the message of the second.
 */
export function createFailureLog(log: Writes, recovered: string): FailureLog {
  let said = new Set<string>()
  let failures = 0
  let since = 0
  return {
    failed(level, error, message, details = {}) {
      if (failures++ === 0) since = performance.now()
      const reason = `${message} ${error instanceof Error ? kindOf(error) : String(error)}`
      if (said.has(reason)) return
      said.add(reason)
      // It returns, is restarted or is replaced by a standby, and everything is tried again.
      log[isLost(error) ? "warn" : level]({ err: error, ...details }, message)
    },
    succeeded() {
      if (failures === 0) return
      log.info({ failures, milliseconds: Math.round(performance.now() - since) }, recovered)
      said = new Set()
      failures = 0
    },
  }
}

/**
 * The error code if there is one: a message may contain varying values, such as a name or a number.
 */
function kindOf(error: Error): string {
  for (const each of withCauses(error)) if ("code" in each && typeof each.code === "string") return each.code
  return error.message
}
