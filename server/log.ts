import { pino, type DestinationStream, type Logger } from "pino"

export type Log = Logger

/** JSON lines on standard output. Levels: trace, debug, info, warn, error, silent. */
export function openLog(level: string): Log {
  const options = {
    level,
    base: null,
    timestamp: createTimestamp(),
    redact: ["*.authorization", "*.cookie", "*.token", "*.password"],
  }
  return pino(options, openOutput())
}

/** Lines of one turn of the event loop leave in one write; at the end of the process, what there is. */
function openOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true })
  let lines = ""
  const flush = () => {
    if (lines !== "") output.write(lines)
    lines = ""
  }
  process.on("exit", flush)
  return {
    write(line) {
      if (lines === "") setImmediate(flush)
      lines += line
    },
  }
}

/** As pino's own `isoTime`; lines of one millisecond share the text. */
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
