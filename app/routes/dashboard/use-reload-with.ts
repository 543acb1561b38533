import { useEffect, useRef } from "react"
import { useReload } from "./use-reload.ts"

/** Loads the page's other figures again when these live rows have changed, many changes together. */
export function useReloadWith(rows: readonly object[]): void {
  const reload = useReload()
  const shown = useRef(rows)
  useEffect(() => {
    if (shown.current === rows) return
    shown.current = rows
    const timer = setTimeout(reload, 150)
    return () => clearTimeout(timer)
  }, [rows, reload])
}
