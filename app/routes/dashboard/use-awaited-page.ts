import { useEffect, useState } from "react"
import { useLocation, useNavigation } from "react-router"

/** Milliseconds. A page that arrives sooner gets no placeholder. */
const NOTICE_DELAY = 400

/** The path of the page that is being loaded and is late; null if there is none. */
export function useAwaitedPage(): string | null {
  const { pathname } = useLocation()
  const { state, location, formMethod } = useNavigation()
  const isFollowed = state === "loading" && formMethod === undefined
  const next = isFollowed && placeOf(location.pathname) !== placeOf(pathname) ? location.pathname : null
  const [late, setLate] = useState<string | null>(null)
  useEffect(() => {
    if (next === null) return
    const timer = setTimeout(setLate, NOTICE_DELAY, next)
    return () => {
      clearTimeout(timer)
      setLate(null)
    }
  }, [next])
  return next !== null && late === next ? next : null
}

/** A chat counts as one place: its list stays while conversations change beside it. */
function placeOf(path: string): string {
  return /^(\/dashboard|\/s\/[^/]+)\/chat/.exec(path)?.[0] ?? path
}
