import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { MESSAGE_LIMIT } from "#server/chat/contract.ts"

interface ComposerProps {
  text: string
  onText: (text: string) => void
  onSend: () => void
  /** Given while an answer is being given: the button stops it. */
  onStop?: (() => void) | undefined
  pending?: boolean
  /** Why nothing can be sent now. */
  blocked?: ReactNode
  placeholder?: string
}

/** Where a question is written. Enter sends it, Shift and Enter make a line, Escape stops the answer. */
export function Composer({
  text,
  onText,
  onSend,
  onStop,
  pending = false,
  blocked,
  placeholder,
}: ComposerProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const canSend = text.trim() !== "" && !blocked && !onStop && !pending

  useEffect(() => {
    // A phone would open its keyboard over the conversation.
    if (matchMedia("(pointer: fine)").matches) area.current?.focus({ preventScroll: true })
  }, [])

  function press(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    if (event.key === "Escape") onStop?.()
    if (event.key !== "Enter" || event.shiftKey) return
    event.preventDefault()
    if (canSend) onSend()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (canSend) onSend()
      }}
      className="mx-auto w-full max-w-3xl"
    >
      <div className="flex items-end gap-2 rounded-xl border border-line-strong bg-surface p-2 shadow-md transition-colors focus-within:border-accent">
        <textarea
          ref={area}
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={press}
          rows={1}
          maxLength={MESSAGE_LIMIT}
          aria-label="Your question"
          placeholder={placeholder ?? "Ask anything…"}
          enterKeyHint="send"
          className="field-sizing-content max-h-56 min-h-9 min-w-0 flex-1 resize-none bg-transparent px-2.5 py-1.5 text-base outline-hidden placeholder:text-faint touch:min-h-11 touch:py-2.5"
        />
        {onStop ? (
          <Button
            size="icon"
            variant="secondary"
            aria-label="Stop the answer"
            title="Stop the answer (Esc)"
            onClick={onStop}
          >
            <Icon name="stop" className="fill-current" />
          </Button>
        ) : (
          <Button
            type="submit"
            size="icon"
            aria-label="Send"
            title="Send (Enter)"
            disabled={!canSend}
            pending={pending}
          >
            <Icon name="send" />
          </Button>
        )}
      </div>
      <Hint text={text} blocked={blocked} />
    </form>
  )
}

function Hint({ text, blocked }: { text: string; blocked: ReactNode }) {
  if (blocked) return <p className="px-3 pt-1.5 text-xs text-warning-ink">{blocked}</p>
  if (text.length > MESSAGE_LIMIT * 0.9) {
    return (
      <p className="px-3 pt-1.5 text-xs text-faint tabular-nums">
        {text.length} of {MESSAGE_LIMIT} characters
      </p>
    )
  }
  return (
    <p className="hidden px-3 pt-1.5 text-xs text-faint lg:block">
      Enter sends, Shift + Enter makes a new line. Answers can be wrong: check what matters.
    </p>
  )
}
