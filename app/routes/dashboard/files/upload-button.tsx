import { useRef, type ReactNode } from "react"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"

/** Lets files be chosen. Not there without JavaScript: what stands beside it must lead on then. */
export function UploadButton({
  onFiles,
  variant,
  children,
}: {
  onFiles: (files: File[]) => void
  variant?: "primary" | "secondary"
  children: ReactNode
}) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <div className="noscript:hidden">
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])])
          // The same file chosen again is a change again.
          currentTarget.value = ""
        }}
      />
      <Button variant={variant} onClick={() => input.current?.click()}>
        <Icon name="upload" />
        {children}
      </Button>
    </div>
  )
}
