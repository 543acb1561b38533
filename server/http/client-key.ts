// The keys of the contract's limits (docs/http-api.md) are what a client claims, so they tell
// honest clients apart and stop nobody. What must be stopped is counted by `networkIn` and by
// person as well.

/**
 * What the health and e-mail limits count by: the value of `x-forwarded-for` as it is, or
 * `unknown`.
 */
export function clientKey(request: Request): string {
  return request.headers.get("x-forwarded-for") ?? "unknown"
}

/** The first address that `x-forwarded-for` names, or `unknown`. */
export function claimedAddress(request: Request): string {
  return request.headers.get("x-forwarded-for")?.split(",", 1)[0]?.trim() || "unknown"
}
