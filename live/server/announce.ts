import type { Log } from "./log.ts"

const PREFIX = "realtime.announce."

/**
 * SQL that sends a message to every process when the transaction that runs it commits, and nothing
 * if it is rolled back. `$1` is the topic, `$2` the text. A process that is not reading the log may
 * miss it, and one that starts reading may receive a message that is a minute old, so the database
 * must store the same fact.
 */
export const ANNOUNCE = `select pg_logical_emit_message(true, '${PREFIX}' || $1, $2)`

/** The handler of each topic, in every process. */
export type Announcements = Readonly<Record<string, (text: string) => void>>

/** Passes announcements from the log to the handler of their topic, if there is one. */
export function dispatchAnnouncements(announcements: Announcements, log: Log) {
  return (prefix: string, text: string): void => {
    if (!prefix.startsWith(PREFIX)) return
    const topic = prefix.slice(PREFIX.length)
    if (!Object.hasOwn(announcements, topic)) return
    try {
      announcements[topic]?.(text)
    } catch (error) {
      log.error({ err: error, topic }, "ignored an invalid announcement")
    }
  }
}
