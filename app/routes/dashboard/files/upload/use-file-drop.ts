import { useEffect, useEffectEvent, useState } from "react"

/** How many parts of the page take files that are dropped. */
export const takers = { count: 0 }

/**
 * Calls `onDrop` for files dropped anywhere on the page. Returns whether files are being dragged
 * over it. `onDrop` has to read the transfer before it returns: the browser empties it afterwards.
 */
export function useFileDrop(onDrop: (transfer: DataTransfer) => void): boolean {
  const [isOver, setOver] = useState(false)
  const drop = useEffectEvent(onDrop)

  useEffect(() => {
    // The pointer enters an element before it leaves the surrounding one.
    let depth = 0
    takers.count += 1
    const stop = new AbortController()
    const listen = (
      name: "dragenter" | "dragleave" | "dragover" | "drop",
      act: (event: DragEvent, transfer: DataTransfer) => void,
    ) =>
      window.addEventListener(
        name,
        (event) => {
          const { dataTransfer } = event
          if (dataTransfer?.types.includes("Files")) act(event, dataTransfer)
        },
        { signal: stop.signal },
      )
    listen("dragenter", () => {
      depth += 1
      setOver(true)
    })
    listen("dragleave", () => {
      depth -= 1
      if (depth === 0) setOver(false)
    })
    listen("dragover", (event) => event.preventDefault())
    listen("drop", (event, transfer) => {
      depth = 0
      setOver(false)
      event.preventDefault()
      drop(transfer)
    })
    return () => {
      takers.count -= 1
      stop.abort()
    }
  }, [])
  return isOver
}
