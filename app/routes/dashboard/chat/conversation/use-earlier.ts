import { useEffect, useEffectEvent, useRef } from "react"

/** The messages before those on the screen. */
export interface Earlier {
  hasMore: boolean
  isLoading: boolean
  loadMore(): void
}

/**
 * Loads earlier messages before a reader who scrolls up reaches them. The returned ref belongs
 * above the first message.
 */
export function useEarlier(
  { hasMore, isLoading, loadMore }: Earlier,
  frame: { current: HTMLElement | null },
) {
  const mark = useRef<HTMLDivElement>(null)
  const load = useEffectEvent(loadMore)
  const mayLoad = hasMore && !isLoading
  useEffect(() => {
    if (!mayLoad || !mark.current) return
    // Two viewport heights ahead. Checked again after each page, because one page may not be
    // enough.
    const sight = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && load(),
      {
        root: frame.current,
        rootMargin: "200% 0px 0px 0px",
      },
    )
    sight.observe(mark.current)
    return () => sight.disconnect()
  }, [mayLoad, frame])
  return mark
}
