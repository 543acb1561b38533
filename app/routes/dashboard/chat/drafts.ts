import { useSyncExternalStore } from "react"

const changes = new EventTarget()
/** For where the browser's storage is full or forbidden. */
const unstored = new Map<string, string>()

/** What is being written under a name, kept in this browser until it is sent: it survives a reload and a look elsewhere. */
export function useDraft(name: string) {
  const text = useSyncExternalStore(
    subscribe,
    () => readDraft(name),
    () => "",
  )
  return [text, (next: string) => writeDraft(name, next)] as const
}

export function readDraft(name: string): string {
  try {
    return unstored.get(name) ?? localStorage.getItem(keyOf(name)) ?? ""
  } catch {
    return ""
  }
}

export function writeDraft(name: string, text: string) {
  unstored.delete(name)
  try {
    if (text) localStorage.setItem(keyOf(name), text)
    else localStorage.removeItem(keyOf(name))
  } catch {
    unstored.set(name, text)
  }
  changes.dispatchEvent(new Event("change"))
}

function subscribe(onChange: () => void) {
  changes.addEventListener("change", onChange)
  return () => changes.removeEventListener("change", onChange)
}

function keyOf(name: string) {
  return `tideline:draft:${name}`
}
