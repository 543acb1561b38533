/**
 * Who is here for longer after they began to leave stays: it was a download, or they thought better
 * of it. Milliseconds.
 */
const LONGEST_WAY = 10_000

let leftAt = -Infinity
if (typeof window !== "undefined")
  window.addEventListener("beforeunload", () => void (leftAt = performance.now()))

/**
 * Does now what loads something; while the browser is on its way to another document, only once it
 * turns out to stay. Whatever the page loads by itself in that time would end the way elsewhere:
 * after a sign-out on the sign-in page, not on the start page.
 */
export function unlessLeaving(load: () => void): void {
  const isLeaving = performance.now() - leftAt < LONGEST_WAY
  if (isLeaving) setTimeout(load, LONGEST_WAY)
  else load()
}
