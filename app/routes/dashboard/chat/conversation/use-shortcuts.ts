import { isComposing } from "#app/ui/is-composing.ts"
import { isOverlayOpen } from "#app/ui/open-overlay.ts"
import { useEffect, useEffectEvent } from "react"

/**
 * Calls `act` for Escape, wherever the focus is, unless something nearer handled it: a menu, a
 * dialog, a message that is being edited.
 */
export function useEscape(act: (() => void) | null) {
  useKey(act, (event) => event.key === "Escape")
}

/** Ctrl+Shift+O, or Command+Shift+O. */
export function useNewShortcut(act: () => void) {
  useKey(act, (event) => (event.ctrlKey || event.metaKey) && event.shiftKey && event.code === "KeyO")
}

function useKey(act: (() => void) | null, isMeant: (event: KeyboardEvent) => boolean) {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isComposing(event) || isOverlayOpen() || !isMeant(event)) return
    event.preventDefault()
    act?.()
  })
  const isWanted = act !== null
  useEffect(() => {
    if (!isWanted) return
    const onKeyDown = (event: KeyboardEvent) => press(event)
    window.addEventListener("keydown", onKeyDown)
    return () => window.removeEventListener("keydown", onKeyDown)
  }, [isWanted])
}
