/** Calls `act` once the browser is idle, or after `timeout` ms. Safari has no idle callbacks. */
export function whenIdle(act: () => void, timeout?: number) {
  if (!("requestIdleCallback" in globalThis)) {
    const timer = setTimeout(act, 50)
    return { cancel: () => clearTimeout(timer) }
  }
  const request = requestIdleCallback(act, timeout === undefined ? {} : { timeout })
  return { cancel: () => cancelIdleCallback(request) }
}
