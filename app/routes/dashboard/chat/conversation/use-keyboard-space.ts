import { useEffect, useRef } from "react"

/** Pixels. No browser's own bars take this much of the page; keyboards take more. */
const LOWEST_KEYBOARD = 120

/**
 * Keeps an element above the keyboard of a phone. The keyboard covers the page without resizing it,
 * so `--available-height` of the element is set to the height between its top and the keyboard.
 */
export function useKeyboardSpace() {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const view = window.visualViewport
    if (!view || !matchMedia("(pointer: coarse)").matches) return
    const fit = () => {
      const box = element.current
      if (!box) return
      // Zooming in shrinks the visual viewport as well.
      const isKeyboard = view.scale < 1.05 && window.innerHeight - view.height > LOWEST_KEYBOARD
      if (!isKeyboard) return box.style.removeProperty("--available-height")
      window.scrollTo(0, 0)
      const above = box.getBoundingClientRect().top
      box.style.setProperty("--available-height", `${Math.max(160, view.height - above)}px`)
    }
    view.addEventListener("resize", fit)
    return () => view.removeEventListener("resize", fit)
  }, [])
  return element
}
