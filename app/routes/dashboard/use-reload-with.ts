import { useEffect, useRef } from "react"
import { useRevalidator } from "react-router"

/** Loads the page's other figures again when these live rows have changed, many changes together. */
export function useReloadWith(rows: readonly object[]): void {
  const { revalidate } = useRevalidator()
  const shown = useRef(rows)
  useEffect(() => {
    if (shown.current === rows) return
    shown.current = rows
    const timer = setTimeout(() => void revalidate(), 150)
    return () => clearTimeout(timer)
  }, [rows, revalidate])
}
