import { useLingui } from "@lingui/react/macro"
import { useEffect, useRef, type KeyboardEvent } from "react"
import { classNames } from "#app/ui/class-names.ts"
import { defer, whenRendered } from "#app/ui/defer.tsx"
import { isComposing } from "#app/ui/is-composing.ts"
import { DraftChip, UploadChip } from "./attachment-list.tsx"
import type { Draft } from "./drafts.ts"
import { useAttaching } from "./use-attaching.ts"
import { useMentioning } from "./use-mentioning.ts"
import { usePasting } from "./use-pasting.ts"

export const MentionList = defer(
  () => import("./mention-list-part.tsx"),
  whenRendered,
)((parts) => parts.MentionList)

const MentionMarks = defer(
  () => import("./mention-marks-part.tsx"),
  whenRendered,
)((parts) => parts.MentionMarks)

interface DraftFieldOptions<Written extends Draft> {
  draft: Written
  onDraft: (draft: Written) => void
  onSend: (to: { toPeople: boolean }) => void
  /** In a space: the model replies only if it is named. */
  peopleOnly: boolean
  /** Why nothing can be sent, besides what is wrong with the draft. */
  isHeld?: boolean
}

/** A message while it is written: its text with mentions, and its files. Enter sends it. */
export function useDraftField<Written extends Draft>({
  draft,
  onDraft,
  onSend,
  peopleOnly,
  isHeld = false,
}: DraftFieldOptions<Written>) {
  const { text, attachments } = draft
  const area = useRef<HTMLTextAreaElement>(null)
  // An upload may end long after the field has changed.
  const latest = useRef(draft)
  useEffect(() => {
    latest.current = draft
  })
  function change(to: Partial<Draft>) {
    latest.current = { ...latest.current, ...to }
    onDraft(latest.current)
  }
  const write = (written: string) => change({ text: written })
  const attaching = useAttaching({
    attachments,
    onAttached(attachment) {
      const known = latest.current.attachments
      if (known.some(({ fileId }) => fileId === attachment.fileId)) return
      change({ attachments: [...known, attachment] })
    },
  })
  const mentioning = useMentioning({ text, onText: write, area, peopleOnly })
  const pasting = usePasting({ text, attaching, onText: (next) => write(next(latest.current.text)) })
  const hasContent = text.trim() !== "" || attachments.length > 0
  const canSend = hasContent && !pasting.isTooLong && !attaching.isUploading && !isHeld
  const toPeople = mentioning.addressee?.asksModel === false
  const send = () => {
    if (canSend) onSend({ toPeople })
  }
  return {
    draft,
    area,
    attaching,
    mentioning,
    pasting,
    canSend,
    toPeople,
    write,
    send,
    remove: (one: Draft["attachments"][number]) =>
      change({ attachments: attachments.filter((each) => each !== one) }),
    /** `take` is asked first what to do with a key. */
    press(event: KeyboardEvent, take: (event: KeyboardEvent) => void) {
      if (isComposing(event.nativeEvent) || mentioning.press(event)) return
      take(event)
      if (event.key !== "Enter" || event.shiftKey) return
      event.preventDefault()
      send()
    },
  }
}

type Field = ReturnType<typeof useDraftField>

/** The files of a draft, and those that are being uploaded for it. */
export function DraftFiles({ field, className }: { field: Field; className: string }) {
  const { t } = useLingui()
  const { draft, attaching, remove } = field
  if (draft.attachments.length + attaching.uploads.length === 0) return null
  return (
    <ul aria-label={t`Attached files`} className={classNames("flex flex-wrap gap-2", className)}>
      {draft.attachments.map((attachment) => (
        <li key={attachment.fileId} className="min-w-0">
          <DraftChip attachment={attachment} onRemove={() => remove(attachment)} />
        </li>
      ))}
      {attaching.uploads.map(({ id, file, problem }) => (
        <li key={id} className="min-w-0">
          <UploadChip file={file} problem={problem} onRemove={() => attaching.remove(id)} />
        </li>
      ))}
    </ul>
  )
}

interface DraftTextProps extends Omit<React.ComponentProps<"textarea">, "onKeyDown"> {
  field: Field
  onKey: (event: KeyboardEvent) => void
  /** The text and the marks of mentions behind it have these in common. */
  spacing?: string
}

export function DraftText({ field, onKey, spacing, className, ...rest }: DraftTextProps) {
  const { draft, area, mentioning, pasting, write, press } = field
  return (
    <div className="relative min-w-0 flex-1">
      {mentioning.marks.length > 0 ? (
        <MentionMarks mentioning={mentioning} className={classNames("text-base", spacing)} />
      ) : null}
      <textarea
        ref={area}
        dir="auto"
        value={draft.text}
        onChange={(event) => {
          write(event.target.value)
          mentioning.moved(event.target)
        }}
        onSelect={(event) => mentioning.moved(event.currentTarget)}
        onBlur={mentioning.close}
        onKeyDown={(event) => press(event, onKey)}
        onPaste={pasting.paste}
        {...mentioning.fieldProps}
        {...rest}
        className={classNames(
          "relative field-sizing-content block w-full resize-none bg-transparent text-base outline-hidden",
          spacing,
          className,
        )}
      />
    </div>
  )
}
