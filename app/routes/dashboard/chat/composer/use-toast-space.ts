import { useEffect, type RefObject } from "react"

/** Keeps toasts above an element at the bottom of the page, however high it grows. */
export function useToastSpace(element: RefObject<HTMLElement | null>) {
  useEffect(() => {
    const { style } = document.body
    const observer = new ResizeObserver(([entry]) => {
      style.setProperty("--composer-inset", `${Math.ceil(entry?.borderBoxSize[0]?.blockSize ?? 0)}px`)
    })
    if (element.current) observer.observe(element.current)
    return () => {
      observer.disconnect()
      style.removeProperty("--composer-inset")
    }
  }, [element])
}
