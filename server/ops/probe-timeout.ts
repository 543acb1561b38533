/** Milliseconds. A probe must be answered before its own timeout. */
const PROBE_TIMEOUT = 2000

/** Resolves like `asked`, or rejects after two seconds. */
export async function withinProbeTimeout<Answer>(asked: Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`no answer within ${PROBE_TIMEOUT} ms`)),
    PROBE_TIMEOUT,
  )
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
