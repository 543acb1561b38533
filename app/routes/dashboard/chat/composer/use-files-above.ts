import { useEffect, useRef, useState } from "react"

/** Takes files that are dropped anywhere on the page. True while some are held above it. */
export function useFilesAbove(onFiles: (files: File[]) => void): boolean {
  const [isAbove, setAbove] = useState(false)
  const take = useRef(onFiles)
  useEffect(() => {
    take.current = onFiles
  })

  useEffect(() => {
    // Every element that the pointer crosses enters before the one around it is left.
    let depth = 0
    const stop = new AbortController()
    const listen = (name: "dragenter" | "dragleave" | "dragover" | "drop", act: (event: DragEvent) => void) =>
      window.addEventListener(
        name,
        (event) => {
          if (event.dataTransfer?.types.includes("Files")) act(event)
        },
        { signal: stop.signal },
      )
    listen("dragenter", () => {
      depth += 1
      setAbove(true)
    })
    listen("dragleave", () => {
      depth -= 1
      if (depth === 0) setAbove(false)
    })
    listen("dragover", (event) => event.preventDefault())
    listen("drop", (event) => {
      depth = 0
      setAbove(false)
      event.preventDefault()
      take.current([...(event.dataTransfer?.files ?? [])])
    })
    return () => stop.abort()
  }, [])
  return isAbove
}
