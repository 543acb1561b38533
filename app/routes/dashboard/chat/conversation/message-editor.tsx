import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useRef, type KeyboardEvent } from "react"
import { Button } from "#app/ui/button.tsx"
import { defer, whenRendered } from "#app/ui/defer.tsx"
import { isComposing } from "#app/ui/is-composing.ts"
import { DraftChip, UploadChip } from "#app/routes/dashboard/chat/composer/attachment-list.tsx"
import { usePendingMessages, type Exchange } from "#app/routes/dashboard/chat/composer/pending-messages.tsx"
import type { Draft } from "#app/routes/dashboard/chat/composer/drafts.ts"
import { AddresseeNotice } from "#app/routes/dashboard/chat/composer/addressee-notice.tsx"
import { MentionNotice } from "#app/routes/dashboard/chat/composer/mention-notice.tsx"
import { TooLong } from "#app/routes/dashboard/chat/composer/too-long.tsx"
import { useAttaching } from "#app/routes/dashboard/chat/composer/use-attaching.ts"
import { useMentioning } from "#app/routes/dashboard/chat/composer/use-mentioning.ts"
import { usePasting } from "#app/routes/dashboard/chat/composer/use-pasting.ts"

const MentionList = defer(
  () => import("#app/routes/dashboard/chat/composer/mention-list-part.tsx"),
  whenRendered,
)((parts) => parts.MentionList)

const MentionMarks = defer(
  () => import("#app/routes/dashboard/chat/composer/mention-marks-part.tsx"),
  whenRendered,
)((parts) => parts.MentionMarks)

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
  const area = useRef<HTMLTextAreaElement>(null)
  const { messageId, text, attachments, isNote } = editing
  const latest = useRef(editing)
  useEffect(() => {
    latest.current = editing
  })
  const change = (to: Partial<Draft>) => {
    latest.current = { ...latest.current, ...to }
    questions.edit(threadId, latest.current)
  }
  const write = (edited: string) => change({ text: edited })
  const mentioning = useMentioning({ text, onText: write, area, peopleOnly })
  const attaching = useAttaching({
    attachments,
    onAttached: (attachment) => change({ attachments: [...latest.current.attachments, attachment] }),
  })
  const pasting = usePasting({
    text,
    attaching,
    onText: (next) => write(next(latest.current.text)),
  })
  const canSend =
    (text.trim() !== "" || attachments.length > 0) && !pasting.isTooLong && !attaching.isUploading

  useEffect(() => {
    const { current } = area
    current?.focus()
    current?.setSelectionRange(current.value.length, current.value.length)
  }, [area])

  const cancel = () => questions.edit(threadId, null)
  function sendEdited() {
    const toPeople = mentioning.addressee?.asksModel === false
    if (canSend)
      questions.ask(threadId, { text, attachments }, { replaces: messageId, staysInPlace: isNote, toPeople })
  }
  function press(event: KeyboardEvent) {
    if (isComposing(event.nativeEvent) || mentioning.press(event)) return
    if (event.key === "Escape") {
      event.preventDefault()
      event.stopPropagation()
      cancel()
    }
    if (event.key !== "Enter" || event.shiftKey) return
    event.preventDefault()
    sendEdited()
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        sendEdited()
      }}
      className="rounded-xl border border-accent bg-surface p-3 shadow-md"
    >
      {attachments.length + attaching.uploads.length > 0 ? (
        <ul aria-label={t`Attached files`} className="mb-2 flex flex-wrap gap-2">
          {attachments.map((attachment) => (
            <li key={attachment.fileId} className="min-w-0">
              <DraftChip
                attachment={attachment}
                onRemove={() => change({ attachments: attachments.filter((one) => one !== attachment) })}
              />
            </li>
          ))}
          {attaching.uploads.map(({ id, file, problem }) => (
            <li key={id} className="min-w-0">
              <UploadChip file={file} problem={problem} onRemove={() => attaching.remove(id)} />
            </li>
          ))}
        </ul>
      ) : null}
      <div className="relative">
        {mentioning.marks.length > 0 ? <MentionMarks mentioning={mentioning} className="text-base" /> : null}
        <textarea
          ref={area}
          value={text}
          onChange={(event) => {
            write(event.target.value)
            mentioning.moved(event.target)
          }}
          onSelect={(event) => mentioning.moved(event.currentTarget)}
          onBlur={mentioning.close}
          onKeyDown={press}
          onPaste={pasting.paste}
          {...mentioning.fieldProps}
          aria-label={t`Your edited message`}
          className="relative field-sizing-content block max-h-[min(20rem,50dvh)] w-full resize-none bg-transparent text-base outline-hidden"
        />
      </div>
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
        <Button type="submit" size="sm" disabled={!canSend}>
          <Trans>Send again</Trans>
        </Button>
      </div>
    </form>
  )
}
