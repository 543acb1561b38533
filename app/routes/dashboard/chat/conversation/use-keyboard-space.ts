import { useEffect, useRef } from "react"

/** Pixels. No browser's own bars take as much from the page; keyboards take more. */
const LOWEST_KEYBOARD = 120

/**
 * Keeps an element above the keyboard of a phone: the keyboard lies over the page without making it
 * smaller, so the element is told (as `--available-height`) how much it has from its own top to the keyboard's.
 */
export function useKeyboardSpace() {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const view = window.visualViewport
    if (!view || !matchMedia("(pointer: coarse)").matches) return
    const fit = () => {
      const box = element.current
      if (!box) return
      // Somebody who has zoomed in sees less of the page as well.
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
