/**
 * Milliseconds. A page that is still here this long after `beforeunload` stays: it was a download,
 * or the user cancelled.
 */
const LONGEST_WAY = 10_000

let leftAt = -Infinity
if (typeof window !== "undefined")
  window.addEventListener("beforeunload", () => void (leftAt = performance.now()))

/**
 * Calls `load` now, or, while the browser is navigating to another document, only once the page
 * turns out to stay. Loading anything in that time would cancel the navigation: after a sign-out
 * the user would end on the sign-in page instead of the home page.
 */
export function unlessLeaving(load: () => void): void {
  const isLeaving = performance.now() - leftAt < LONGEST_WAY
  if (isLeaving) setTimeout(load, LONGEST_WAY)
  else load()
}
