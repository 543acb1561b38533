import type { RefusalValue } from "./contract.ts"

/** The English of what the realtime layer refuses or reports, by its reason. Values are in braces. */
export const realtimeTexts = {
  "answer-late": "That took too long. Send the same again.",
  "application-updating": "This part of the application is being updated. Reload the page.",
  "connection-closed": "The connection was closed.",
  "database-unreachable": "The database can't be reached.",
  "not-there": "It doesn't exist, or it isn't yours.",
  "page-of-list-unknown": "This page does not exist.",
  "page-outdated": "Reload the page for a newer version.",
  "record-busy": "Somebody else is changing this, or too much is under way for you. Try again.",
  "server-behind": "The server is catching up with its database.",
  "server-failed": "Something went wrong. It has been logged.",
  "server-restarting": "The server is restarting.",
  "session-ended": "Sign in again.",
  "too-many-changes": "Too many changes at once.",
  "too-many-connections": "You have too many open connections.",
  "too-many-messages": "Too many messages at once.",
  "too-many-queries": "Too many queries at once.",

  "stream-forbidden":
    'The role {role} may not read PostgreSQL\'s log. Run: ALTER ROLE "{role}" REPLICATION; (on Amazon RDS: GRANT rds_replication TO it) and start again.',
  "stream-not-started": "The replication stream has not started.",
  "stream-silent": "PostgreSQL has not responded for {lag} ms.",
  "stream-without-slot":
    "PostgreSQL's {setting} are all in use. Each process needs one, and the installation one more slot. Free one, or run: ALTER SYSTEM SET {setting} = 40; and restart PostgreSQL. Records are live as soon as one is free.",
  "tables-unfit": "Queries of {tables} are refused: changed, or not in the publication. The log says which.",
} as const

/** By itself, because the worker that holds the connection needs no other sentence. */
export const ANSWER_LOST = "The connection was lost before the server answered."

/** What a page's own client says. */
export const clientTexts = {
  "answer-lost": ANSWER_LOST,
  "page-replaced": "There is a newer version of this page. Reload it and try again.",
  "signed-out": "You're signed out. Sign in again to continue.",
} as const

/** Puts the values in the places of a text that name them. */
export function fillIn(
  text: string,
  values: Readonly<Record<string, RefusalValue>>,
  write: (value: RefusalValue | undefined) => string = String,
): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => write(values[name]))
}
