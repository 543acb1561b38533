/**
 * Whether the sender would rather hear at once that the work has begun than wait for its outcome
 * (RFC 7240, `respond-async`).
 */
export function prefersAsync(request: Request): boolean {
  const preferences = request.headers.get("prefer")?.split(",") ?? []
  return preferences.some((preference) => preference.split(";")[0]?.trim().toLowerCase() === "respond-async")
}
