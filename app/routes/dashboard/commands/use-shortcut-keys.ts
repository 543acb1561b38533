import { useRef } from "react"
import { isOverlayOpen } from "#app/ui/open-overlay.ts"
import { useKeys } from "#app/ui/use-keys.ts"
import { shortcuts, type ShortcutName } from "./shortcuts.ts"

/** Milliseconds between the two keys of a sequence. */
const SEQUENCE_TIMEOUT = 1_500

/** Runs the actions of shortcuts. Without `areSingleKeysOn`, only those with Ctrl or ⌘. */
export function useShortcutKeys(act: (name: ShortcutName) => void, areSingleKeysOn: boolean) {
  const begun = useRef({ key: "", at: 0 })

  useKeys((event) => {
    if (event.repeat || event.altKey) return
    const isHeld = event.ctrlKey || event.metaKey
    if (!isHeld && (!areSingleKeysOn || isWriting(event.target))) return
    if (isOverlayOpen()) return
    const key = isHeld ? `mod+${event.key.toLowerCase()}` : event.key
    const isNext = event.timeStamp - begun.current.at < SEQUENCE_TIMEOUT
    const name = shortcutOf(`${begun.current.key} ${key}`, isNext) ?? shortcutOf(key, true)
    begun.current = { key, at: event.timeStamp }
    if (!name) return
    begun.current = { key: "", at: 0 }
    event.preventDefault()
    act(name)
  })
}

const byKeys = new Map(Object.entries(shortcuts).map(([name, keys]) => [keys, name as ShortcutName]))

function shortcutOf(keys: string, isMeant: boolean): ShortcutName | undefined {
  return isMeant ? byKeys.get(keys as (typeof shortcuts)[ShortcutName]) : undefined
}

function isWriting(target: EventTarget | null): boolean {
  const writing = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]"
  return target instanceof Element && target.closest(writing) !== null
}
