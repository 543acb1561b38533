import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react"
import type { FileSummary } from "#server/files/contract.ts"

/**
 * A roving tabindex: one row of a list has the focus, or would get it by Tab. `current` is its
 * index. `focusOn` moves there, even to a row that is not mounted yet. When the row is removed, the
 * one that takes its place gets the focus.
 */
export function useRowFocus(
  list: RefObject<HTMLElement | null>,
  files: readonly FileSummary[],
  scrollToIndex: (at: number) => void,
) {
  const [currentId, setCurrentId] = useState<string | null>(null)
  const found = currentId === null ? -1 : files.findIndex(({ _id }) => _id === currentId)
  const last = useRef(0)
  const wanted = useRef<string | null>(null)
  const isInside = useFocusInside(list)

  function focusOn(at: number) {
    const file = files[Math.min(Math.max(0, at), files.length - 1)]
    if (!file) return
    wanted.current = file._id
    setCurrentId(file._id)
    scrollToIndex(at)
  }

  useEffect(() => {
    if (found >= 0) last.current = found
    else if (currentId !== null && isInside.current && document.activeElement === document.body)
      focusOn(last.current)
  })

  useLayoutEffect(() => {
    if (wanted.current === null) return
    const link = list.current?.querySelector<HTMLElement>(`[data-file="${wanted.current}"]`)
    if (!link) return
    wanted.current = null
    link.focus({ preventScroll: true })
  })

  return { current: Math.max(0, found), setCurrent: setCurrentId, focusOn }
}

/**
 * Whether the focus was last in the list or in something that belongs to it. Needed because an
 * element that is removed loses the focus without an event.
 */
function useFocusInside(list: RefObject<HTMLElement | null>) {
  const isInside = useRef(false)
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      isInside.current =
        target instanceof Element && target.closest("[data-files]") === list.current?.closest("[data-files]")
    }
    document.addEventListener("focusin", note)
    return () => document.removeEventListener("focusin", note)
  }, [list])
  return isInside
}
