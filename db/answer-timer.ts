/** As which one interval counts at most, however late it is. */
const PARTS = 10

/**
 * Calls `late` when a server has not answered for so many ms, unless the returned function is called
 * before. A process that was busy or stopped in the meantime has perhaps not read the answer yet, so
 * that time does not count.
 */
export function startAnswerTimer(ms: number, late: () => void): () => void {
  let left = PARTS
  const timer = setInterval(() => {
    left -= 1
    if (left > 0) return
    clearInterval(timer)
    late()
  }, ms / PARTS)
  return () => clearInterval(timer)
}
