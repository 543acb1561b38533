import { useEffect, useRef, useState } from "react"

/** Milliseconds from one arrival of words to the next: what came is spread over them. */
const SPREAD = 280

/** Milliseconds between two drawings. */
const PACE = 30

/**
 * A text that grows by leaps, as it would read if it were written steadily. What it held when it
 * was first shown is there at once, unless it is `isNew`.
 */
export function useReveal(text: string, { isNew }: { isNew: boolean }): string {
  const [shown, setShown] = useState(isNew ? 0 : text.length)
  const place = useRef(shown)
  // Another answer has begun in its place.
  const from = Math.min(shown, text.length)

  useEffect(() => {
    if (from >= text.length) {
      place.current = text.length
      return
    }
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      place.current = text.length
      setShown(text.length)
      return
    }
    place.current = Math.min(place.current, text.length)
    const speed = (text.length - place.current) / SPREAD
    let before = performance.now()
    let frame = requestAnimationFrame(write)
    function write(now: number) {
      if (now - before >= PACE) {
        place.current = Math.min(text.length, place.current + (now - before) * speed)
        before = now
        setShown(Math.floor(place.current))
      }
      if (place.current < text.length) frame = requestAnimationFrame(write)
    }
    return () => cancelAnimationFrame(frame)
    // Each arrival sets a new pace; rendering does not.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [text])

  return text.slice(0, wholeCharacters(text, from))
}

/** Half of a character would be drawn as a box. */
function wholeCharacters(text: string, end: number) {
  const code = text.charCodeAt(end - 1)
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : end
}
