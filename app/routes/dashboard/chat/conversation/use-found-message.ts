import { useEffect, useRef } from "react"
import { useLocation } from "react-router"
import { isOverlayOpen } from "#app/ui/open-overlay.ts"
import type { Bubble } from "./bubbles.ts"
import type { Earlier } from "./use-earlier.ts"

/** Milliseconds for which a found message stays highlighted. */
const MARKED = 2_500

/**
 * Scrolls to the message named by the URL (`#message-<id>`), loading as many earlier pages as it
 * takes.
 */
export function useFoundMessage(bubbles: Bubble[], { hasMore, isLoading, loadMore }: Earlier) {
  const { hash, key } = useLocation()
  const id = /^#message-([\w-]+)$/.exec(hash)?.[1]
  const found = useRef<string | null>(null)
  const isHere = bubbles.some((bubble) => bubble.id === id)

  useEffect(() => {
    if (!id || found.current === key) return
    if (!isHere) {
      if (hasMore && !isLoading) loadMore()
      return
    }
    found.current = key
    const message = document.getElementById(`message-${id}`)
    if (!message) return
    message.scrollIntoView({ block: "center", behavior: "instant" })
    if (!isOverlayOpen()) message.focus({ preventScroll: true })
    message.dataset["found"] = ""
    setTimeout(() => delete message.dataset["found"], MARKED)
  }, [id, key, isHere, hasMore, isLoading, loadMore])
}
