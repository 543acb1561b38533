import { useEffect, useState } from "react"
import { useRevalidator } from "react-router"

/**
 * Loads the page's data again whenever the server-sent events at `url` report a change. Returns
 * whether it follows them; never with null.
 */
export function useChanges(url: string | null): boolean {
  const { revalidate } = useRevalidator()
  const [follows, setFollows] = useState(false)
  useEffect(() => {
    if (url === null) return
    const events = new EventSource(url)
    const load = () => void revalidate()
    events.addEventListener("open", () => setFollows(true))
    events.addEventListener("error", () => setFollows(false))
    events.addEventListener("changed", load)
    events.addEventListener("gone", () => {
      events.close()
      load()
    })
    return () => {
      events.close()
      setFollows(false)
    }
  }, [url, revalidate])
  return follows
}
