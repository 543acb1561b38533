import { useEffect, useEffectEvent } from "react"
import { isComposing } from "./is-composing.ts"

/** Calls `press` for each key, wherever the focus is, unless something nearer handled it. */
export function useKeys(press: (event: KeyboardEvent) => void, isOn = true) {
  const hear = useEffectEvent((event: KeyboardEvent) => {
    if (!event.defaultPrevented && !isComposing(event)) press(event)
  })
  useEffect(() => {
    if (!isOn) return
    const onKeyDown = (event: KeyboardEvent) => hear(event)
    window.addEventListener("keydown", onKeyDown)
    return () => window.removeEventListener("keydown", onKeyDown)
  }, [isOn])
}
