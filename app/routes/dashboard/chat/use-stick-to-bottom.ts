import { useEffect, useRef, useState } from "react"

/** Near enough to the end to count as there. Pixels. */
const NEAR = 48

/**
 * Keeps the end of a growing list in sight, but only for a reader who is there: whoever scrolled up is left in peace.
 * `frame` scrolls, `content` grows.
 */
export function useStickToBottom() {
  const frame = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const sticks = useRef(true)
  const [isAtBottom, setIsAtBottom] = useState(true)

  useEffect(() => {
    const box = frame.current
    if (!box || !content.current) return
    let lastTop = box.scrollTop
    const follow = () => {
      if (sticks.current) box.scrollTop = box.scrollHeight
    }
    const note = () => {
      const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR
      // Growing content moves the end away without moving the reader: only scrolling up lets go.
      if (near) sticks.current = true
      else if (box.scrollTop < lastTop) sticks.current = false
      lastTop = box.scrollTop
      setIsAtBottom(near || sticks.current)
    }
    const growth = new ResizeObserver(follow)
    growth.observe(content.current)
    growth.observe(box)
    box.addEventListener("scroll", note, { passive: true })
    follow()
    return () => {
      growth.disconnect()
      box.removeEventListener("scroll", note)
    }
  }, [])

  function goToBottom() {
    sticks.current = true
    setIsAtBottom(true)
    frame.current?.scrollTo({ top: frame.current.scrollHeight })
  }
  return { frame, content, isAtBottom, goToBottom }
}
