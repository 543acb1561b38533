/** What the health and e-mail limits count by: the value of `x-forwarded-for` as it is, or `unknown`. */
export function clientKey(request: Request): string {
  return request.headers.get("x-forwarded-for") ?? "unknown"
}

/** The first address that `x-forwarded-for` names, or `unknown`. */
export function clientAddress(request: Request): string {
  return request.headers.get("x-forwarded-for")?.split(",", 1)[0]?.trim() || "unknown"
}
