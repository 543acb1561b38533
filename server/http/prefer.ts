/**
 * Whether the sender prefers a response when the work has begun to waiting for its outcome (RFC
 * 7240, `respond-async`).
 */
export function prefersAsync(request: Request): boolean {
  const preferences = request.headers.get("prefer")?.split(",") ?? []
  return preferences.some((preference) => preference.split(";")[0]?.trim().toLowerCase() === "respond-async")
}
