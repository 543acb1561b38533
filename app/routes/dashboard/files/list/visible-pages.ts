import { useEffect, useLayoutEffect, useState, type RefObject } from "react"

/** Milliseconds. Pages that are only scrolled past get no subscription. */
const SETTLED_AFTER = 150

/** The index of the page that holds the row. */
export function pageAt(starts: readonly number[], row: number): number {
  return Math.max(
    0,
    starts.findLastIndex((start) => start <= row),
  )
}

/** The pages from one to another, both included, but without the first page of the list. */
export function pagesBehindFirst(from: number, to: number): number[] {
  const first = Math.max(1, from)
  return Array.from({ length: Math.max(0, to - first + 1) }, (_, step) => first + step)
}

/** The visible pages, once they have been in view for a moment. */
export function useSettled(from: number, to: number): readonly [from: number, to: number] {
  const [settled, setSettled] = useState<readonly [number, number]>([0, 0])
  useEffect(() => {
    const timer = setTimeout(() => setSettled([from, to]), SETTLED_AFTER)
    return () => clearTimeout(timer)
  }, [from, to])
  return settled
}

/** Pixels from the top of the document to the element. Changes when content above it does. */
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
