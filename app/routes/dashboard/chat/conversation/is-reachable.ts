/** Whether the server responds at this path without an error of its own (5xx). */
export async function isReachable(path: string): Promise<boolean> {
  if (!navigator.onLine) return false
  try {
    return (await fetch(path, { method: "HEAD", cache: "no-store" })).status < 500
  } catch {
    return false
  }
}
