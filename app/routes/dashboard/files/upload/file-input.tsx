import { useRef, type RefObject } from "react"
import { inNamedFolder } from "./dropped-files.ts"
import type { Chosen } from "./upload.ts"

interface FileInputProps {
  input: RefObject<HTMLInputElement | null>
  onFiles: (chosen: readonly Chosen[]) => void
}

/**
 * Opens the browser's file dialog: call `open` in a user gesture, and render `FileInput` somewhere
 * on the page.
 */
export function useFileInput(
  onFiles: (chosen: readonly Chosen[]) => void,
): FileInputProps & { open: () => void } {
  const input = useRef<HTMLInputElement>(null)
  return { input, onFiles, open: () => input.current?.click() }
}

export function FileInput({
  input,
  onFiles,
  label,
  isFolder = false,
}: FileInputProps & { label: string; isFolder?: boolean }) {
  return (
    <input
      ref={input}
      type="file"
      multiple
      hidden
      aria-label={label}
      {...(isFolder && { webkitdirectory: "" })}
      onChange={({ currentTarget }) => {
        const files = [...(currentTarget.files ?? [])]
        onFiles((isFolder ? files.filter(inNamedFolder) : files).map((file) => ({ file })))
        // Without this, choosing the same file again would fire no change event.
        currentTarget.value = ""
      }}
    />
  )
}
