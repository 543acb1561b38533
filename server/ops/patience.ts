/** Milliseconds. A probe must be answered before it gives up by itself. */
const PATIENCE = 2000

/** What was asked for, where it comes in time. Throws what it throws, and where it does not come. */
export async function withinPatience<Answer>(asked: Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE)
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
