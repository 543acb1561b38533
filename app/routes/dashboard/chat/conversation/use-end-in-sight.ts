import { useCallback, useEffect, useRef, useState } from "react"

/** Pixels. A reader this near to the end counts as being there. */
const NEAR = 48

/**
 * Keeps the end of a growing list in view, but only for a reader who is at the end. `frame` is a
 * reversed column (`flex-col-reverse`): the browser lays it out from its end, where scrollTop is 0
 * and negative above it. The page is therefore scrolled correctly before any script has run, and
 * messages inserted at the top move nothing. `content` is its child.
 */
export function useEndInSight() {
  const frame = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)

  useEffect(() => {
    const box = frame.current
    const list = content.current
    if (!box || !list) return
    let stays = true
    let lastTop = box.scrollTop
    let end = list.lastElementChild?.getBoundingClientRect().height ?? 0
    const note = () => {
      const isNear = box.scrollTop > -NEAR
      // Only scrolling up counts as leaving: growing content can move the end away from a reader
      // who does nothing.
      if (isNear) stays = true
      else if (box.scrollTop < lastTop) stays = false
      lastTop = box.scrollTop
      setAtEnd(stays)
    }
    const grow = () => {
      if (stays && box.scrollTop !== 0) box.scrollTop = 0
      const height = list.lastElementChild?.getBoundingClientRect().height ?? 0
      // Since scrolling counts from the end, growing content would move a reader further up;
      // browsers with scroll anchoring prevent that themselves.
      if (!stays && !ANCHORS) box.scrollTop -= Math.max(0, height - end)
      end = height
    }
    // Because the list is laid out from its end, a `details` would expand upwards, away from the
    // pointer.
    const hold = ({ target }: Event) => {
      const summary = target instanceof Element ? target.closest("summary") : null
      if (!summary) return
      const before = summary.getBoundingClientRect().top
      requestAnimationFrame(() => {
        const moved = summary.getBoundingClientRect().top - before
        stays &&= moved === 0
        box.scrollTop += moved
      })
    }
    const growth = new ResizeObserver(grow)
    growth.observe(list)
    growth.observe(box)
    box.addEventListener("scroll", note, { passive: true })
    list.addEventListener("click", hold)
    return () => {
      growth.disconnect()
      list.removeEventListener("click", hold)
      box.removeEventListener("scroll", note)
    }
  }, [])

  const goToEnd = useCallback(() => frame.current?.scrollTo({ top: 0, behavior: "instant" }), [])
  return { frame, content, isAtEnd, goToEnd }
}

const ANCHORS = typeof CSS !== "undefined" && CSS.supports("overflow-anchor", "auto")
