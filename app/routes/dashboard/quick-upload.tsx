import { useRef } from "react"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { useQuickUpload } from "./use-quick-upload.ts"

/** Adds files without leaving the page. */
export function QuickUpload() {
  const input = useRef<HTMLInputElement>(null)
  const { upload, sending } = useQuickUpload()
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          const chosen = [...(event.target.files ?? [])]
          event.target.value = ""
          void upload(chosen)
        }}
      />
      <Button variant="secondary" pending={sending !== undefined} onClick={() => input.current?.click()}>
        {sending === undefined ? <Icon name="upload" /> : null}
        Add files
      </Button>
    </>
  )
}
