/** Milliseconds. A probe must be answered before its own timeout. */
const PATIENCE = 2000

/** Resolves like `asked`, or rejects after two seconds. */
export async function withinPatience<Answer>(asked: Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE)
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
