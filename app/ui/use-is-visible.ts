import { useEffect, useState } from "react"

/** Whether the page is on the screen, and not in a tab behind others. */
export function useIsVisible(): boolean {
  const [isVisible, setVisible] = useState(() => !document.hidden)
  useEffect(() => {
    const change = () => setVisible(!document.hidden)
    document.addEventListener("visibilitychange", change)
    return () => document.removeEventListener("visibilitychange", change)
  }, [])
  return isVisible
}
