import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { defer, whenRendered } from "#app/ui/defer.tsx"
import { isComposing } from "#app/ui/is-composing.ts"
import { isOverlayOpen } from "#app/ui/open-overlay.ts"
import { AddresseeNotice } from "./addressee-notice.tsx"
import { MentionNotice } from "./mention-notice.tsx"
import { AttachButton } from "./attach-button.tsx"
import { DraftChip, UploadChip } from "./attachment-list.tsx"
import type { Draft } from "./drafts.ts"
import { useAttaching } from "./use-attaching.ts"
import { TooLong } from "./too-long.tsx"
import { useMentioning } from "./use-mentioning.ts"
import { usePasting } from "./use-pasting.ts"
import { useToastSpace } from "./use-toast-space.ts"
import { useDroppedFiles } from "#app/routes/dashboard/files/upload/use-dropped-files.ts"
import { useFileDrop } from "#app/routes/dashboard/files/upload/use-file-drop.ts"

const MentionList = defer(() => import("./mention-list-part.tsx"), whenRendered)((parts) => parts.MentionList)

const MentionMarks = defer(
  () => import("./mention-marks-part.tsx"),
  whenRendered,
)((parts) => parts.MentionMarks)

interface ComposerProps {
  draft: Draft
  onDraft: (draft: Draft) => void
  onSend: (to: { toPeople: boolean }) => void
  /** In a space: the model replies only if it is named. */
  peopleOnly?: boolean
  /**
   * Set while a reply is being generated: the button then stops it, unless there is a message, which
   * then waits for the reply.
   */
  onStop?: (() => void) | undefined
  /** Called for ArrowUp in an empty field. */
  onEditLast?: (() => void) | undefined
  pending?: boolean
  /** Why nothing can be sent now. */
  blocked?: ReactNode
  placeholder?: string
}

/**
 * The field for a new message. Enter sends it, Shift+Enter starts a new line, and ArrowUp in an
 * empty field edits the last message.
 */
export function Composer({
  draft,
  onDraft,
  onSend,
  peopleOnly = false,
  onStop,
  onEditLast,
  pending = false,
  blocked,
  placeholder,
}: ComposerProps) {
  const { t } = useLingui()
  const area = useRef<HTMLTextAreaElement>(null)
  const form = useRef<HTMLFormElement>(null)
  useToastSpace(form)
  const latest = useRef(draft)
  useEffect(() => {
    latest.current = draft
  })
  const attaching = useAttaching({
    attachments: draft.attachments,
    onAttached: (attachment) => {
      const { attachments } = latest.current
      if (attachments.some(({ fileId }) => fileId === attachment.fileId)) return
      latest.current = { ...latest.current, attachments: [...attachments, attachment] }
      onDraft(latest.current)
    },
  })
  const mentioning = useMentioning({
    text: draft.text,
    onText: (text) => onDraft({ ...draft, text }),
    area,
    peopleOnly,
  })
  const toPeople = mentioning.addressee?.asksModel === false
  const pasting = usePasting({
    text: draft.text,
    attaching,
    // An upload may fail long after the field has changed.
    onText: (change) => onDraft({ ...latest.current, text: change(latest.current.text) }),
  })
  const readDropped = useDroppedFiles()
  const isAbove = useFileDrop(
    (transfer) =>
      void readDropped(transfer).then((chosen) => attaching.upload(chosen.map(({ file }) => file))),
  )
  const hasContent = draft.text.trim() !== "" || draft.attachments.length > 0
  const stop = hasContent ? undefined : onStop
  const canSend = hasContent && !pasting.isTooLong && !blocked && !stop && !pending && !attaching.isUploading

  useEffect(() => {
    // On a phone this would open the keyboard over the conversation. An overlay can have been opened
    // while the page was loading.
    if (!matchMedia("(pointer: fine)").matches || isOverlayOpen()) return
    area.current?.focus({ preventScroll: true })
  }, [])

  function press(event: KeyboardEvent) {
    if (isComposing(event.nativeEvent) || mentioning.press(event)) return
    if (event.key === "ArrowUp" && draft.text === "" && onEditLast) {
      event.preventDefault()
      onEditLast()
    }
    if (event.key !== "Enter" || event.shiftKey) return
    event.preventDefault()
    if (canSend) onSend({ toPeople })
  }

  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        if (canSend) onSend({ toPeople })
      }}
      className="relative mx-auto w-full max-w-3xl"
    >
      {mentioning.isOpen ? (
        <MentionList
          mentioning={mentioning}
          className="absolute inset-x-0 bottom-full z-20 mb-2 border-line shadow-lg sm:right-auto sm:w-80"
        />
      ) : null}
      <div className="rounded-xl border border-line-strong bg-surface p-2 shadow-md transition-colors focus-within:border-accent">
        {draft.attachments.length + attaching.uploads.length > 0 ? (
          <ul
            aria-label={t`Attached files`}
            className="flex max-h-40 flex-wrap gap-2 overflow-y-auto p-1 pb-2"
          >
            {draft.attachments.map((attachment) => (
              <li key={attachment.fileId} className="min-w-0">
                <DraftChip
                  attachment={attachment}
                  onRemove={() =>
                    onDraft({ ...draft, attachments: draft.attachments.filter((one) => one !== attachment) })
                  }
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
        <div className="flex items-end gap-1">
          <AttachButton
            disabled={attaching.isFull}
            attached={draft.attachments}
            onUpload={attaching.upload}
            onAttach={attaching.attach}
          />
          <div className="relative min-w-0 flex-1">
            {mentioning.marks.length > 0 ? (
              <MentionMarks mentioning={mentioning} className="px-1.5 py-1.5 text-base touch:py-2.5" />
            ) : null}
            <textarea
              ref={area}
              dir="auto"
              value={draft.text}
              onChange={(event) => {
                onDraft({ ...draft, text: event.target.value })
                mentioning.moved(event.target)
              }}
              onSelect={(event) => mentioning.moved(event.currentTarget)}
              onBlur={mentioning.close}
              onKeyDown={press}
              {...mentioning.fieldProps}
              onPaste={pasting.paste}
              rows={1}
              aria-label={peopleOnly ? t`Your message` : t`Your question`}
              placeholder={placeholder ?? t`Ask anything…`}
              enterKeyHint="send"
              className="relative field-sizing-content block max-h-[min(14rem,40dvh)] min-h-9 w-full resize-none bg-transparent px-1.5 py-1.5 text-base outline-hidden placeholder:text-faint touch:min-h-11 touch:py-2.5"
            />
          </div>
          {stop ? (
            <Button
              size="icon"
              variant="secondary"
              aria-label={t`Stop generating`}
              title={t`Stop generating (Esc)`}
              onClick={stop}
            >
              <Icon name="stop" className="fill-current" />
            </Button>
          ) : (
            <Button
              type="submit"
              size="icon"
              aria-label={t`Send`}
              title={onStop && !toPeople ? t`Send when the reply has ended (Enter)` : t`Send (Enter)`}
              disabled={!canSend}
              pending={pending}
            >
              <Icon name="send" />
            </Button>
          )}
        </div>
      </div>
      {isAbove ? (
        <div className="pointer-events-none absolute inset-0 grid place-items-center rounded-xl border-2 border-dashed border-accent bg-accent-soft/95 text-sm font-medium text-accent-ink">
          <Trans>Drop files to ask about them</Trans>
        </div>
      ) : null}
      <MentionNotice
        unmatched={mentioning.unmatched}
        className="px-3 text-xs text-warning-ink not-empty:pt-1.5"
      />
      <AddresseeNotice addressee={mentioning.addressee} peopleOnly={peopleOnly} className="px-3 pt-1.5" />
      {pasting.isTooLong ? (
        <TooLong length={draft.text.length} onAttach={pasting.attachText} />
      ) : (
        <Hint
          blocked={
            blocked ?? (attaching.isUploading ? t`You can send it once its files are uploaded.` : null)
          }
        />
      )}
    </form>
  )
}

function Hint({ blocked }: { blocked: ReactNode }) {
  if (blocked) return <p className="px-3 pt-1.5 text-xs text-warning-ink">{blocked}</p>
  return (
    <p className="hidden px-3 pt-1.5 text-xs text-faint lg:block">
      <Trans>
        Press Enter to send, Shift + Enter for a new line. Replies can be wrong: check important facts.
      </Trans>
    </p>
  )
}
