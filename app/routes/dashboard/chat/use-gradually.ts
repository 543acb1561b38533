import { useEffect, useState } from "react"
import type { Bubble } from "./bubbles.ts"

/** Messages that are drawn in one frame. A page of them at once would be felt by who scrolls. */
const STEP = 10

/** The bubbles, of which those that come in above are added a few in each frame. */
export function useGradually(bubbles: Bubble[]): Bubble[] {
  const [first, setFirst] = useState(bubbles[0]?.key)
  const known = bubbles.findIndex(({ key }) => key === first)
  // What was the first has gone: all is new.
  const start = Math.max(0, known)

  if (start === 0 && bubbles[0]?.key !== first) setFirst(bubbles[0]?.key)

  useEffect(() => {
    if (start === 0) return
    const frame = requestAnimationFrame(() => setFirst(bubbles[Math.max(0, start - STEP)]?.key))
    return () => cancelAnimationFrame(frame)
  }, [bubbles, start])

  return start === 0 ? bubbles : bubbles.slice(start)
}
