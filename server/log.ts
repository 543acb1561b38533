import { pino, type Logger } from "pino"

export type Log = Logger

/** JSON lines on standard output. Levels: trace, debug, info, warn, error, silent. */
export function openLog(level: string): Log {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ["*.authorization", "*.cookie", "*.token", "*.password"],
  })
}
