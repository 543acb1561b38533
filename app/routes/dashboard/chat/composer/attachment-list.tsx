import { useLingui } from "@lingui/react/macro"
import { useState, type ReactNode } from "react"
import { href } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { addressOfTab } from "#app/routes/dashboard/files/list/address.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useLive } from "#live/react"
import { classNames } from "#app/ui/class-names.ts"
import { IconButton } from "#app/ui/icon-button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { attachableAs, type Attachment } from "#server/chat/contract.ts"
import type { Loaded } from "#live/contract"

/** The files attached to a message: images as thumbnails, others by their name. */
export function AttachmentList({
  attachments,
  className,
}: {
  attachments: Attachment[]
  className?: string
}) {
  const { t } = useLingui()
  return (
    <ul aria-label={t`Files`} className={classNames("flex flex-wrap gap-2", className)}>
      {attachments.map((attachment) => (
        <li key={attachment.fileId} className="min-w-0">
          <AttachmentLink attachment={attachment} />
        </li>
      ))}
    </ul>
  )
}

function AttachmentLink({ attachment }: { attachment: Attachment }) {
  const { t } = useLingui()
  const formats = useFormats()
  const { fileId, fileName, mimeType, size } = attachment
  const state = useIsThere(fileId)
  const isImage = attachableAs(mimeType) === "image"
  if (state === "gone") {
    return <Chip picture={<Icon name="trash" />} name={fileName} about={t`This file was deleted`} />
  }
  return (
    <a
      href={addressOfTab({ fileId, mimeType })}
      target="_blank"
      rel="noreferrer"
      title={fileName}
      className="block rounded-lg hover:bg-hover"
    >
      {isImage ? (
        <span className="grid size-28 place-items-center overflow-hidden rounded-lg border border-line bg-sunken text-faint">
          {state === "there" ? <Thumbnail fileId={fileId} alt={fileName} /> : <Icon name="image" />}
        </span>
      ) : (
        <Chip picture={<Icon name="text" />} name={fileName} about={formats.bytes(size)} />
      )}
    </a>
  )
}

/**
 * Whether the file still exists, followed live. A thumbnail is only requested once it is known to
 * exist.
 */
function useIsThere(fileId: string): "unknown" | "there" | "gone" {
  const { spaceId } = usePlace()
  const [unknown] = useState<Loaded<FileRow>>(() => ({
    query: "files.getFile",
    args: { fileId, spaceId },
    rows: [{ _id: fileId }],
    order: [["_id", "asc"]],
    end: null,
  }))
  const [file] = useLive(unknown)
  if (!file) return "gone"
  return file.fileName === undefined ? "unknown" : "there"
}

interface FileRow {
  _id: string
  fileName?: string
}

function Thumbnail({ fileId, alt }: { fileId: string; alt: string }) {
  return (
    <img
      src={href("/api/files/:fileId/thumbnail", { fileId })}
      alt={alt}
      loading="lazy"
      decoding="async"
      className="size-full object-cover"
    />
  )
}

interface ChipProps {
  picture: ReactNode
  name: string
  about: ReactNode
  tone?: "danger" | undefined
  children?: ReactNode
}

export function Chip({ picture, name, about, tone, children }: ChipProps) {
  return (
    <span
      className={classNames(
        "flex max-w-64 min-w-0 items-center gap-2.5 rounded-lg border bg-surface pr-3 pl-2 text-left text-sm",
        tone === "danger" ? "min-h-12 border-danger-line py-1.5" : "h-12 border-line",
      )}
    >
      <span className="grid size-8 shrink-0 place-items-center overflow-hidden rounded-md bg-sunken text-faint">
        {picture}
      </span>
      <span className="min-w-0 flex-1">
        <span dir="auto" className="block truncate font-medium">
          {name}
        </span>
        <span
          className={classNames(
            "block text-xs",
            tone === "danger" ? "text-danger-ink" : "truncate text-faint",
          )}
        >
          {about}
        </span>
      </span>
      {children}
    </span>
  )
}

/** A file attached to a draft. */
export function DraftChip({ attachment, onRemove }: { attachment: Attachment; onRemove: () => void }) {
  const { t } = useLingui()
  const formats = useFormats()
  const { fileId, fileName, mimeType, size } = attachment
  return (
    <Chip
      picture={
        attachableAs(mimeType) === "image" ? <Thumbnail fileId={fileId} alt="" /> : <Icon name="text" />
      }
      name={fileName}
      about={formats.bytes(size)}
    >
      <IconButton label={t`Remove ${fileName}`} icon="x" onPress={onRemove} className="-mr-2" />
    </Chip>
  )
}

/** A file that is being uploaded, or whose upload failed. */
export function UploadChip({
  file,
  problem,
  onRemove,
}: {
  file: File
  problem: string | null
  onRemove: () => void
}) {
  const { t } = useLingui()
  const fileName = file.name
  return (
    <Chip
      picture={problem ? <Icon name="warning" className="text-danger-ink" /> : <Spinner />}
      name={fileName}
      about={problem ?? t`Uploading…`}
      tone={problem ? "danger" : undefined}
    >
      <IconButton label={t`Remove ${fileName}`} icon="x" onPress={onRemove} className="-mr-2" />
    </Chip>
  )
}
