import { useEffect, useLayoutEffect, useState, type RefObject } from "react"

/** Milliseconds. What is only scrolled past is not worth a subscription. */
const SETTLED_AFTER = 150

/** Which page the row stands on. */
export function pageAt(starts: readonly number[], row: number): number {
  return Math.max(
    0,
    starts.findLastIndex((start) => start <= row),
  )
}

/** The pages from one to another, both included, without the first of all. */
export function pagesBehindFirst(from: number, to: number): number[] {
  const first = Math.max(1, from)
  return Array.from({ length: Math.max(0, to - first + 1) }, (_, step) => first + step)
}

/** The pages in sight, once they have stayed in sight for a moment. */
export function useSettled(from: number, to: number): readonly [from: number, to: number] {
  const [settled, setSettled] = useState<readonly [number, number]>([0, 0])
  useEffect(() => {
    const timer = setTimeout(() => setSettled([from, to]), SETTLED_AFTER)
    return () => clearTimeout(timer)
  }, [from, to])
  return settled
}

/** From the top of the document to the element, in pixels. Words above it come and go. */
export function useDistanceFromTop(element: RefObject<HTMLElement | null>): number {
  const [distance, setDistance] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      const top = element.current?.getBoundingClientRect().top
      if (top !== undefined) setDistance(Math.round(top + window.scrollY))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return distance
}
