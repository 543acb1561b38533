import { Trans } from "@lingui/react/macro"
import { useEffect, useRef, useState } from "react"
import { Icon } from "#app/ui/icon.tsx"
import { namePasted, readFiles } from "./dropped-files.ts"
import type { Chosen } from "./upload.ts"

/** Takes files that are dropped anywhere on the page, or pasted, and shows that it would. */
export function DropZone({ onFiles }: { onFiles: (chosen: readonly Chosen[]) => void }) {
  const isOver = useFilesAbove(onFiles)
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

function useFilesAbove(onFiles: (chosen: readonly Chosen[]) => void) {
  const [isOver, setOver] = useState(false)
  const take = useRef(onFiles)
  useEffect(() => {
    take.current = onFiles
  }, [onFiles])

  useEffect(() => {
    // Every element that the pointer crosses enters before the one around it is left.
    let depth = 0
    const enter = (event: DragEvent) => {
      if (carriesFiles(event.dataTransfer) && ++depth === 1) setOver(true)
    }
    const leave = (event: DragEvent) => {
      if (carriesFiles(event.dataTransfer) && --depth === 0) setOver(false)
    }
    const over = (event: DragEvent) => {
      if (carriesFiles(event.dataTransfer)) event.preventDefault()
    }
    const drop = (event: DragEvent) => {
      depth = 0
      setOver(false)
      if (!carriesFiles(event.dataTransfer)) return
      event.preventDefault()
      void readFiles(event.dataTransfer).then(take.current)
    }
    const paste = (event: ClipboardEvent) => {
      if (!event.clipboardData || event.clipboardData.files.length === 0) return
      event.preventDefault()
      void readFiles(event.clipboardData).then((chosen) =>
        take.current(chosen.map((one) => namePasted(one, new Date()))),
      )
    }
    const stop = new AbortController()
    const { signal } = stop
    window.addEventListener("dragenter", enter, { signal })
    window.addEventListener("dragleave", leave, { signal })
    window.addEventListener("dragover", over, { signal })
    window.addEventListener("drop", drop, { signal })
    window.addEventListener("paste", paste, { signal })
    return () => stop.abort()
  }, [])
  return isOver
}

function carriesFiles(transfer: DataTransfer | null): transfer is DataTransfer {
  return transfer?.types.includes("Files") ?? false
}
