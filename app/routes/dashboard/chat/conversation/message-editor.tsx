import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect } from "react"
import { Button } from "#app/ui/button.tsx"
import { usePendingMessages, type Exchange } from "#app/routes/dashboard/chat/composer/pending-messages.tsx"
import { AddresseeNotice } from "#app/routes/dashboard/chat/composer/addressee-notice.tsx"
import {
  DraftFiles,
  DraftText,
  MentionList,
  useDraftField,
} from "#app/routes/dashboard/chat/composer/draft-field.tsx"
import { MentionNotice } from "#app/routes/dashboard/chat/composer/mention-notice.tsx"
import { TooLong } from "#app/routes/dashboard/chat/composer/too-long.tsx"

interface MessageEditorProps {
  threadId: string
  editing: NonNullable<Exchange["editing"]>
  peopleOnly: boolean
}

/**
 * Edits a sent message. Everything after it moves to the earlier versions, unless it is one between
 * people, which stays in its place.
 */
export function MessageEditor({ threadId, editing, peopleOnly }: MessageEditorProps) {
  const { t } = useLingui()
  const questions = usePendingMessages()
  const { messageId, text, attachments, isNote } = editing
  const field = useDraftField({
    draft: editing,
    onDraft: (draft) => questions.edit(threadId, draft),
    onSend: ({ toPeople }) =>
      questions.ask(threadId, { text, attachments }, { replaces: messageId, staysInPlace: isNote, toPeople }),
    peopleOnly,
  })
  const { area, mentioning, pasting } = field

  useEffect(() => {
    const { current } = area
    current?.focus()
    current?.setSelectionRange(current.value.length, current.value.length)
  }, [area])

  const cancel = () => questions.edit(threadId, null)

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        field.send()
      }}
      className="rounded-xl border border-accent bg-surface p-3 shadow-md"
    >
      <DraftFiles field={field} className="mb-2" />
      <DraftText
        field={field}
        onKey={(event) => {
          if (event.key !== "Escape") return
          event.preventDefault()
          event.stopPropagation()
          cancel()
        }}
        aria-label={t`Your edited message`}
        className="max-h-[min(20rem,50dvh)]"
      />
      {/* In the flow: above or below the editor it could lie outside of what can be scrolled to. */}
      {mentioning.isOpen ? <MentionList mentioning={mentioning} className="mt-2 border-line-strong" /> : null}
      <MentionNotice unmatched={mentioning.unmatched} className="text-xs text-warning-ink not-empty:mt-2" />
      <AddresseeNotice addressee={mentioning.addressee} peopleOnly={peopleOnly} className="mt-2" />
      {pasting.isTooLong ? <TooLong length={text.length} onAttach={pasting.attachText} /> : null}
      <div className="mt-2 flex flex-wrap items-center justify-end gap-2">
        <p className="mr-auto text-xs text-faint max-sm:w-full">
          {isNote ? (
            <Trans>What it says now is kept as an earlier version.</Trans>
          ) : (
            <Trans>Messages after it are replaced and kept as an earlier version.</Trans>
          )}
        </p>
        <Button variant="ghost" size="sm" onClick={cancel}>
          <Trans>Cancel</Trans>
        </Button>
        <Button type="submit" size="sm" disabled={!field.canSend}>
          <Trans>Send again</Trans>
        </Button>
      </div>
    </form>
  )
}
