import { useEffect, useEffectEvent, useRef } from "react"
import { isComposing } from "#app/ui/is-composing.ts"
import { isOverlayOpen } from "#app/ui/open-overlay.ts"
import { shortcuts, type ShortcutName } from "./shortcuts.ts"

/** Milliseconds between the two keys of a sequence. */
const SEQUENCE_TIMEOUT = 1_500

/** Runs the actions of shortcuts. Without `areSingleKeysOn`, only those with Ctrl or ⌘. */
export function useShortcutKeys(act: (name: ShortcutName) => void, areSingleKeysOn: boolean) {
  const begun = useRef({ key: "", at: 0 })

  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isComposing(event) || event.repeat || event.altKey) return
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

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => press(event)
    window.addEventListener("keydown", onKeyDown)
    return () => window.removeEventListener("keydown", onKeyDown)
  }, [])
}

const byKeys = new Map(Object.entries(shortcuts).map(([name, keys]) => [keys, name as ShortcutName]))

function shortcutOf(keys: string, isMeant: boolean): ShortcutName | undefined {
  return isMeant ? byKeys.get(keys as (typeof shortcuts)[ShortcutName]) : undefined
}

function isWriting(target: EventTarget | null): boolean {
  const writing = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]"
  return target instanceof Element && target.closest(writing) !== null
}
