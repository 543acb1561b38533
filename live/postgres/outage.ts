/**
 * Error codes of postgres.js when there is no connection, of ours when no server accepts writes, and
 * of PostgreSQL while it starts, stops or is full. 25006 is a write that reached a standby: the
 * address leads to another server since a failover.
 */
const LOST =
  /^(CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|NO_PRIMARY|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|08...|57P0[1-5]|25P03|25006|53300)$/

/**
 * Codes for a lock that others held too long, two that waited for each other, a statement that took
 * too long, and a person's share of the connections being in use.
 */
const BUSY = /^(55P03|40P01|57014|SHARE_IN_USE)$/

/** PostgreSQL's code for a disk without space. */
const FULL = /^53100$/

/**
 * Whether the error or its cause is that the database is unavailable now, so that trying again
 * later may work.
 */
export function isOutage(error: unknown): boolean {
  return isLost(error) || isBusy(error) || isFull(error)
}

/** Whether it is that the database has no disk space for what was to be written. */
export function isFull(error: unknown): boolean {
  return hasCode(error, FULL)
}

/**
 * Whether it is that the database reads and does not write: it has no space, is a standby, or was set
 * to read only, as hosts of databases do when the disk is almost full.
 */
export function refusesWrites(error: unknown): boolean {
  return hasCode(error, /^(53100|25006)$/)
}

/** Whether it is that there is no connection. */
export function isLost(error: unknown): boolean {
  return hasCode(error, LOST)
}

/**
 * What the error says, in words where postgres.js only has `write CONNECT_TIMEOUT host:5432`. That of a
 * statement only repeats the statement, so its cause speaks.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ("query" in error && error.cause instanceof Error && isOutage(error.cause)) return reasonOf(error.cause)
  // Of a name with several addresses, which says nothing itself.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ")
  return error.message.replace(/^write CONNECT_TIMEOUT (.+)$/, "$1 did not answer in time")
}

/** Whether it is that others were in the way, while the connection is intact. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, BUSY)
}

function hasCode(error: unknown, codes: RegExp): boolean {
  if (!(error instanceof Error)) return false
  if ("code" in error && typeof error.code === "string" && codes.test(error.code)) return true
  if (error instanceof AggregateError && error.errors.some((one) => hasCode(one, codes))) return true
  return hasCode(error.cause, codes)
}
