import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useRef, type ReactNode } from "react"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { isOverlayOpen } from "#app/ui/open-overlay.ts"
import { AddresseeNotice } from "./addressee-notice.tsx"
import { MentionNotice } from "./mention-notice.tsx"
import { AttachButton } from "./attach-button.tsx"
import { DraftFiles, DraftText, MentionList, useDraftField } from "./draft-field.tsx"
import type { Draft } from "./drafts.ts"
import { TooLong } from "./too-long.tsx"
import { useToastSpace } from "./use-toast-space.ts"
import { useDroppedFiles } from "#app/routes/dashboard/files/upload/use-dropped-files.ts"
import { useFileDrop } from "#app/routes/dashboard/files/upload/use-file-drop.ts"

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
  const form = useRef<HTMLFormElement>(null)
  useToastSpace(form)
  const stop = draft.text.trim() !== "" || draft.attachments.length > 0 ? undefined : onStop
  const isHeld = Boolean(blocked) || stop !== undefined || pending
  const field = useDraftField({ draft, onDraft, onSend, peopleOnly, isHeld })
  const { area, attaching, mentioning, pasting, toPeople } = field
  const readDropped = useDroppedFiles()
  const isAbove = useFileDrop(
    (transfer) =>
      void readDropped(transfer).then((chosen) => attaching.upload(chosen.map(({ file }) => file))),
  )

  useEffect(() => {
    // On a phone this would open the keyboard over the conversation. An overlay can have been opened
    // while the page was loading.
    if (!matchMedia("(pointer: fine)").matches || isOverlayOpen()) return
    area.current?.focus({ preventScroll: true })
  }, [area])

  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        field.send()
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
        <DraftFiles field={field} className="max-h-40 overflow-y-auto p-1 pb-2" />
        <div className="flex items-end gap-1">
          <AttachButton
            disabled={attaching.isFull}
            attached={draft.attachments}
            onUpload={attaching.upload}
            onAttach={attaching.attach}
          />
          <DraftText
            field={field}
            onKey={(event) => {
              if (event.key !== "ArrowUp" || draft.text !== "" || !onEditLast) return
              event.preventDefault()
              onEditLast()
            }}
            rows={1}
            aria-label={peopleOnly ? t`Your message` : t`Your question`}
            placeholder={placeholder ?? t`Ask anything…`}
            enterKeyHint="send"
            spacing="px-1.5 py-1.5 touch:py-2.5"
            className="max-h-[min(14rem,40dvh)] min-h-9 placeholder:text-faint touch:min-h-11"
          />
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
              disabled={!field.canSend}
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
