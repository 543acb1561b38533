/**
 * Milliseconds for which an unreachable server is retried: for the current page, and for a page
 * that the user is navigating to.
 */
const RETRY_TIME = { here: 30_000, elsewhere: 3_000 }

/** Milliseconds between attempts. */
const PAUSE = 300

/**
 * Retries loaders while the server restarts. When a loader's request fails, React Router replaces
 * the page, and everything in progress on it is lost. It has no hook for retries, so this wraps the
 * browser's `fetch`. Only GET requests for a page's data are retried, never changes; any response
 * counts as success, whatever its status.
 */
export function retryFetches(): void {
  const fetchOnce = window.fetch
  window.fetch = async (input, init) => {
    const retryTime = retryTimeFor(input, init)
    const begun = performance.now()
    for (;;) {
      try {
        return await fetchOnce(input, init)
      } catch (error) {
        const isUnreachable = error instanceof TypeError && navigator.onLine
        if (!isUnreachable || performance.now() - begun > retryTime) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE))
    }
  }
}

function retryTimeFor(input: RequestInfo | URL, init: RequestInit = {}): number {
  const isRequest = input instanceof Request
  const { origin, pathname } = new URL(isRequest ? input.url : input, location.href)
  const method = init.method ?? (isRequest ? input.method : "GET")
  if (method !== "GET" || origin !== location.origin || !pathname.endsWith(".data")) return 0
  return pathname === `${location.pathname}.data` ? RETRY_TIME.here : RETRY_TIME.elsewhere
}
