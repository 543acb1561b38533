import { useEffect, useState } from "react"

/** Whole seconds until `until` (milliseconds since the epoch); 0 if it is past or null. */
export function useCountdown(until: number | null): number {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const count = () => setSeconds(until === null ? 0 : Math.max(0, Math.ceil((until - Date.now()) / 1000)))
    count()
    if (until === null) return
    const timer = setInterval(count, 250)
    return () => clearInterval(timer)
  }, [until])
  return seconds
}
