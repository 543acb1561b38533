import { useEffect, useRef } from "react"

/**
 * Escape, wherever the keyboard is, unless something nearer has taken it: a menu, a dialog, a
 * question that is being edited.
 */
export function useEscape(act: (() => void) | null) {
  useKey(act, (event) => event.key === "Escape")
}

/** Control or Command with Shift and O. */
export function useNewShortcut(act: () => void) {
  useKey(act, (event) => (event.ctrlKey || event.metaKey) && event.shiftKey && event.code === "KeyO")
}

function useKey(act: (() => void) | null, isMeant: (event: KeyboardEvent) => boolean) {
  const latest = useRef({ act, isMeant })
  useEffect(() => {
    latest.current = { act, isMeant }
  })
  const isWanted = act !== null
  useEffect(() => {
    if (!isWanted) return
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || !latest.current.isMeant(event)) return
      // A toast is a dialog as well, but nobody is in it.
      if (document.querySelector("[role=dialog]:not([aria-modal=false]), [role=menu]")) return
      event.preventDefault()
      latest.current.act?.()
    }
    window.addEventListener("keydown", press)
    return () => window.removeEventListener("keydown", press)
  }, [isWanted])
}
