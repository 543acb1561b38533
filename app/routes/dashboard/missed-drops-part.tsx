import { useLingui } from "@lingui/react/macro"
import { useEffect, useRef } from "react"
import { useToast } from "#app/ui/toast.tsx"
import { takers } from "./files/upload/use-file-drop.ts"

/**
 * Says where files can be dropped if nothing on the page takes them. Without this, the browser would
 * leave the page and open them.
 */
export function MissedDrops(): null {
  const { t } = useLingui()
  const { show } = useToast()
  const say = useRef(() => {})
  useEffect(() => {
    say.current = () =>
      show({
        title: t`Files can't be dropped here`,
        description: t`Drop them on the Files page, or into a conversation.`,
      })
  })
  useEffect(() => {
    const stop = new AbortController()
    const guard = (event: DragEvent) => {
      if (takers.count > 0 || !event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      if (event.type === "drop") say.current()
    }
    window.addEventListener("dragover", guard, { signal: stop.signal })
    window.addEventListener("drop", guard, { signal: stop.signal })
    return () => stop.abort()
  }, [])
  return null
}
