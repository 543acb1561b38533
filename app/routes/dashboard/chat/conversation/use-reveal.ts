import { useEffect, useRef, useState } from "react"

/** Milliseconds between two arrivals of text: each arrival is spread over them. */
const SPREAD = 280

/** Milliseconds between two updates of the shown text. */
const PACE = 30

/**
 * Smooths a text that grows in bursts, so that it appears at a steady pace. The text of the first
 * render is shown immediately, unless `isNew` is set.
 */
export function useReveal(text: string, { isNew }: { isNew: boolean }): string {
  const [shown, setShown] = useState(isNew ? 0 : text.length)
  const place = useRef(shown)
  // The text is shorter when another reply replaced it.
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

/** Half of a surrogate pair would be rendered as a box. */
function wholeCharacters(text: string, end: number) {
  const code = text.charCodeAt(end - 1)
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : end
}
