import { useCallback } from "react"
import { useRevalidator } from "react-router"
import { unlessLeaving } from "./leaving.ts"

/**
 * Loads the page's figures again. While the server is out of reach it waits for the connection instead: a loader that fails would
 * take the page off the screen, with all that is live and under way on it.
 */
export function useReload(): () => void {
  const { revalidate } = useRevalidator()
  return useCallback(() => {
    const reload = async () => {
      if (await isReachable()) return unlessLeaving(() => void revalidate())
      window.addEventListener("online", () => void reload(), { once: true })
    }
    void reload()
  }, [revalidate])
}

/** Whether the server answers, and where `path` needs its database, that as well. */
export async function isReachable(path = "/favicon.svg"): Promise<boolean> {
  if (!navigator.onLine) return false
  try {
    return (await fetch(path, { method: "HEAD", cache: "no-store" })).status < 500
  } catch {
    return false
  }
}
