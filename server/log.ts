import { pino, type DestinationStream, type Logger } from "pino"
import { isLost, reasonOf } from "#live/check"
import { describeEntry, isTerminal, outliveTerminal } from "./terminal.ts"

export { createFailureLog } from "#live/check"

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
