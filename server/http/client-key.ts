// The keys of the contract's limits (docs/http-api.md) are claimed by the client, so they separate
// honest clients and stop nobody. Limits that must hold are also counted by `networkIn` and by
// person.

/**
 * The key of the health and email limits: the value of `x-forwarded-for` unchanged, or `unknown`.
 */
export function clientKey(request: Request): string {
  return request.headers.get("x-forwarded-for") ?? "unknown"
}

/** The first address in `x-forwarded-for`, or `unknown`. */
export function claimedAddress(request: Request): string {
  return request.headers.get("x-forwarded-for")?.split(",", 1)[0]?.trim() || "unknown"
}
