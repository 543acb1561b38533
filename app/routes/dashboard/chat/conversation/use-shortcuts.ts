import { isOverlayOpen } from "#app/ui/open-overlay.ts"
import { useKeys } from "#app/ui/use-keys.ts"

/** Calls `act` for Escape, but not for one that a menu, a dialog or an edited message handles. */
export function useEscape(act: (() => void) | null) {
  useKey(act, (event) => event.key === "Escape")
}

/** Ctrl+Shift+O, or Command+Shift+O. */
export function useNewShortcut(act: () => void) {
  useKey(act, (event) => (event.ctrlKey || event.metaKey) && event.shiftKey && event.code === "KeyO")
}

function useKey(act: (() => void) | null, isMeant: (event: KeyboardEvent) => boolean) {
  useKeys((event) => {
    if (isOverlayOpen() || !isMeant(event)) return
    event.preventDefault()
    act?.()
  }, act !== null)
}
