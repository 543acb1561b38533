import type { Log } from "./log.ts"

const PREFIX = "realtime.announce."

/**
 * SQL that tells every process something at the commit of the transaction that runs it, and nothing
 * when it is rolled back: `$1` is the topic, `$2` a text. A process that is not reading the log at
 * the moment may miss it, and one that begins to read may receive what is a minute old, so records
 * must tell the same.
 */
export const ANNOUNCE = `select pg_logical_emit_message(true, '${PREFIX}' || $1, $2)`

/** What is done where a topic is announced. */
export type Announcements = Readonly<Record<string, (text: string) => void>>

/**
 * Hands messages of the log to the handler of their topic, where they are announcements and there
 * is one.
 */
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
