/** What postgres.js says when there is no connection, and what PostgreSQL says while it starts, stops or is full. */
const CODES =
  /^(CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|08...|57P0[1-5]|53300)$/

/** Whether the error, or what caused it, is that the database cannot be reached: asking again later may work. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ("code" in error && typeof error.code === "string" && CODES.test(error.code)) return true
  if (error instanceof AggregateError && error.errors.some((one) => isOutage(one))) return true
  return isOutage(error.cause)
}
