/**
 * ms that are waited for a server that cannot be reached: for the page that is shown, and for
 * another one that somebody waits for.
 */
const RETRY_TIME = { here: 30_000, elsewhere: 3_000 }

/** ms from one attempt to the next. */
const PAUSE = 300

/**
 * A server that is started again is away for a moment. React Router takes a page off the screen
 * when its data cannot be fetched, with all that is under way on it, and has no place to ask again
 * but the browser's own `fetch`; so that asks again for what a page reads. Changes are never sent
 * twice, and an answer is an answer, whatever it says.
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
