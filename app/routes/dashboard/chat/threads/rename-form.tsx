import { useLingui } from "@lingui/react/macro"
import { useEffect, useRef, useState, type KeyboardEvent } from "react"
import { useRevalidator } from "react-router"
import { classNames } from "#app/ui/class-names.ts"
import { isComposing } from "#app/ui/is-composing.ts"
import { useMutate } from "#live/react"
import { useAttempt } from "#app/routes/dashboard/requests/use-attempt.ts"
import { TITLE_LIMIT, type ThreadSummary } from "#server/chat/contract.ts"
import { chatOperations } from "#server/chat/operations-contract.ts"

interface RenameFormProps {
  thread: ThreadSummary
  onClose: () => void
  className?: string
}

/** Edits the title in place. Enter and leaving the field save it, Escape does not. */
export function RenameForm({ thread, onClose, className }: RenameFormProps) {
  const { t } = useLingui()
  const rename = useRename(thread)
  const input = useRef<HTMLInputElement>(null)
  const [title, setTitle] = useState(thread.title)
  const isOver = useRef(false)

  useEffect(() => input.current?.select(), [])

  function end(keeps: boolean) {
    if (isOver.current) return
    isOver.current = true
    const wanted = title.replaceAll(/\s+/g, " ").trim()
    if (keeps && wanted && wanted !== thread.title) rename(wanted)
    onClose()
  }
  function press(event: KeyboardEvent) {
    if (isComposing(event.nativeEvent) || (event.key !== "Enter" && event.key !== "Escape")) return
    event.preventDefault()
    event.stopPropagation()
    end(event.key === "Enter")
  }
  return (
    <input
      ref={input}
      value={title}
      onChange={(event) => setTitle(event.target.value)}
      onKeyDown={press}
      onBlur={() => end(true)}
      maxLength={TITLE_LIMIT}
      aria-label={t`Title`}
      autoComplete="off"
      autoFocus
      className={classNames(
        "h-9 rounded-md border border-accent bg-surface px-2 text-base outline-hidden sm:text-sm touch:h-11",
        className,
      )}
    />
  )
}

function useRename(thread: ThreadSummary) {
  const { t } = useLingui()
  const { revalidate } = useRevalidator()
  const mutate = useMutate()
  const attempt = useAttempt()
  return (title: string) => {
    const shown = { query: "chat.listThreads", op: "merge", key: thread._id, row: { title } } as const
    void attempt(t`The title wasn't changed`, async () => {
      await mutate(chatOperations.renameThread, { threadId: thread._id, title }, [shown])
      await revalidate()
    })
  }
}
