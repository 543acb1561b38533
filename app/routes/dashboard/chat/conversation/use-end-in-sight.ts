import { useCallback, useEffect, useRef, useState } from "react"

/** Near enough to the end to count as there. Pixels. */
const NEAR = 48

/**
 * Keeps the end of a growing list in sight, but only for a reader who is there. `frame` is a
 * reversed column (`flex-col-reverse`): the browser draws it from its end, with scrollTop 0 there
 * and less above, so the page stands right before any script has run, and what comes in at the top
 * moves nothing. `content` is what it holds.
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
      // Only who scrolls up lets go: growing content may move the end away from who does nothing.
      if (isNear) stays = true
      else if (box.scrollTop < lastTop) stays = false
      lastTop = box.scrollTop
      setAtEnd(stays)
    }
    const grow = () => {
      if (stays && box.scrollTop !== 0) box.scrollTop = 0
      const height = list.lastElementChild?.getBoundingClientRect().height ?? 0
      // Counted from the end, a reader further up is moved by what is written there; browsers that
      // anchor see to it themselves.
      if (!stays && !ANCHORS) box.scrollTop -= Math.max(0, height - end)
      end = height
    }
    // Drawn from its end, a list would fold and unfold upwards, away from the pointer.
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
