import { Trans } from "@lingui/react/macro"
import { useEffect, useEffectEvent } from "react"
import { Icon } from "#app/ui/icon.tsx"
import { useFileDrop } from "./use-file-drop.ts"
import type { Chosen } from "./upload.ts"
import { useDroppedFiles } from "./use-dropped-files.ts"

/**
 * Uploads files that are dropped anywhere on the page or pasted, and shows when they can be
 * dropped.
 */
export function DropZone({ onFiles }: { onFiles: (chosen: readonly Chosen[]) => void }) {
  const read = useDroppedFiles()
  const isOver = useFileDrop((transfer) => void read(transfer).then(onFiles))
  useFilePaste(onFiles)
  if (!isOver) return null
  return (
    <div className="pointer-events-none fixed inset-3 z-50 grid place-items-center rounded-xl border-2 border-dashed border-accent bg-accent-soft/90 backdrop-blur-sm">
      <p className="flex items-center gap-3 text-xl font-semibold text-accent-ink">
        <Icon name="upload" className="size-6" />
        <Trans>Drop to upload</Trans>
      </p>
    </div>
  )
}

function useFilePaste(onFiles: (chosen: readonly Chosen[]) => void) {
  const read = useDroppedFiles()
  const paste = useEffectEvent(async (event: ClipboardEvent) => {
    if (!event.clipboardData || event.clipboardData.files.length === 0) return
    event.preventDefault()
    const chosen = await read(event.clipboardData)
    const { namePasted } = await import("./name-pasted.ts")
    onFiles(chosen.map((one) => namePasted(one, new Date())))
  })
  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => void paste(event)
    window.addEventListener("paste", onPaste)
    return () => window.removeEventListener("paste", onPaste)
  }, [])
}
