import { useSyncExternalStore } from "react"

/**
 * A key in the browser's storage, present while they are off. Speech input that types letters would
 * trigger them, so they can be turned off.
 */
const KEY = "tideline.letter-shortcuts"
const changed = new EventTarget()

/** Whether single-letter shortcuts are enabled, and a way to change that, for this browser. */
export function useLetterShortcuts(): [areOn: boolean, turn: (on: boolean) => void] {
  const areOn = useSyncExternalStore(
    subscribe,
    () => read() !== "off",
    () => true,
  )
  return [areOn, turn]
}

function subscribe(listener: () => void) {
  window.addEventListener("storage", listener)
  changed.addEventListener("change", listener)
  return () => {
    window.removeEventListener("storage", listener)
    changed.removeEventListener("change", listener)
  }
}

/** A browser can refuse access to its storage: then they are on. */
function read(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

function turn(on: boolean) {
  try {
    if (on) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, "off")
  } catch {
    return
  }
  changed.dispatchEvent(new Event("change"))
}
