import { useLingui } from "@lingui/react/macro"
import { useEffect, useRef } from "react"
import { splitName } from "#server/files/contract.ts"

/**
 * Edits the name in place: Enter and leaving the field save it, Escape does not. The extension
 * cannot be edited.
 */
export function FileNameForm({
  fileName,
  onSave,
  onLeave,
}: {
  fileName: string
  onSave: (fileName: string) => void
  onLeave: () => void
}) {
  const { t } = useLingui()
  const { stem, extension } = splitName(fileName)
  const input = useRef<HTMLInputElement>(null)
  const isOver = useRef(false)
  useEffect(() => {
    input.current?.select()
  }, [])

  const leave = ({ save }: { save: boolean }) => {
    // Saving and cancelling both blur the field, which would save it a second time.
    if (isOver.current) return
    isOver.current = true
    const typed = input.current?.value.trim()
    if (save && typed) onSave(typed + extension)
    else onLeave()
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        leave({ save: true })
      }}
      className="flex items-center"
    >
      <input
        ref={input}
        aria-label={t`New name for ${fileName}`}
        defaultValue={stem}
        autoFocus
        autoComplete="off"
        spellCheck={false}
        maxLength={255}
        onBlur={() => leave({ save: true })}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return
          event.stopPropagation()
          leave({ save: false })
        }}
        className="h-8 field-sizing-content max-w-full min-w-24 rounded-sm border border-accent bg-surface px-1.5 text-base font-medium -outline-offset-1 sm:text-sm"
      />
      <span className="pl-1 text-faint">{extension}</span>
    </form>
  )
}
