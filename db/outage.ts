/**
 * What postgres.js says when there is no connection, and what PostgreSQL says while it starts,
 * stops or is full.
 */
const LOST =
  /^(CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|08...|57P0[1-5]|25P03|53300)$/

/**
 * A lock that others held for too long, a statement that took too long, and a person's share of the
 * connections that is in use.
 */
const BUSY = /^(55P03|57014|SHARE_IN_USE)$/

/**
 * Whether the error, or what caused it, is that the database cannot answer now: asking again later
 * may work.
 */
export function isOutage(error: unknown): boolean {
  return isLost(error) || isBusy(error)
}

/** Whether it is that there is no connection. */
export function isLost(error: unknown): boolean {
  return hasCode(error, LOST)
}

/** Whether it is that others were in the way, and the connection is as it was. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, BUSY)
}

function hasCode(error: unknown, codes: RegExp): boolean {
  if (!(error instanceof Error)) return false
  if ("code" in error && typeof error.code === "string" && codes.test(error.code)) return true
  if (error instanceof AggregateError && error.errors.some((one) => hasCode(one, codes))) return true
  return hasCode(error.cause, codes)
}
