import { Trans, useLingui } from "@lingui/react/macro"
import { useState, type KeyboardEvent, type ReactNode } from "react"
import { href } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { buttonClass } from "#app/ui/button.tsx"
import { defer } from "#app/ui/defer.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Stage } from "#app/ui/stage.tsx"
import { isShownInline, isTextType, type FileSummary } from "#server/files/contract.ts"
import { Centred, Unshown } from "./preview-frame.tsx"

const DAY_AND_TIME = { dateStyle: "medium", timeStyle: "short" } as const

const TextPreview = defer(() => import("./preview-text-part.tsx"))((parts) => parts.TextPreview)

/** A file in a full-screen preview. The arrow keys go to the previous and the next one. */
export function Preview({
  file,
  place,
  count,
  onMove,
  onClose,
  actions,
}: {
  file: FileSummary
  /** Index in the list. */
  place: number
  count: number
  onMove: (step: 1 | -1) => void
  onClose: () => void
  actions: ReactNode
}) {
  const { t } = useLingui()
  const formats = useFormats()
  const { fileName } = file
  const size = formats.bytes(file.size)
  const total = formats.number(count)
  const number = formats.number(place + 1)
  const modified = file.modifiedAt === undefined ? null : formats.date(file.modifiedAt, DAY_AND_TIME)
  const address = href("/api/files/:fileId", { fileId: file._id })
  const onKeyDown = (event: KeyboardEvent) => {
    const step = ({ ArrowLeft: -1, ArrowRight: 1 } as const)[event.key]
    // These keys seek in a video and scroll a long line.
    if (step === undefined || (event.target instanceof Element && event.target.closest("video, audio, pre")))
      return
    event.preventDefault()
    onMove(step)
  }
  return (
    <Stage
      open
      onClose={onClose}
      onKeyDown={onKeyDown}
      title={file.fileName}
      description={
        modified === null
          ? t`${size} · ${number} of ${total}`
          : t`${size} · modified ${modified} · ${number} of ${total}`
      }
      actions={
        <>
          {actions}
          <a
            href={`${address}?download`}
            download={file.fileName}
            aria-label={t`Download ${fileName}`}
            title={t`Download`}
            className={buttonClass({ variant: "ghost", size: "icon" })}
          >
            <Icon name="download" />
          </a>
        </>
      }
    >
      <Shown key={file._id} file={file} address={address} />
      <p role="status" className="sr-only">
        <Trans>
          {fileName}, {number} of {total}
        </Trans>
      </p>
      {place > 0 ? <Turn label={t`Previous file`} icon="chevron-left" onPress={() => onMove(-1)} /> : null}
      {place < count - 1 ? (
        <Turn label={t`Next file`} icon="chevron-right" onPress={() => onMove(1)} />
      ) : null}
    </Stage>
  )
}

function Turn({
  label,
  icon,
  onPress,
}: {
  label: string
  icon: "chevron-left" | "chevron-right"
  onPress: () => void
}) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onPress}
      className={`absolute bottom-4 grid size-11 place-items-center sm:top-1/2 sm:bottom-auto sm:-translate-y-1/2 rounded-full border border-line bg-raised/90 text-muted shadow-md hover:text-ink ${icon === "chevron-left" ? "left-3" : "right-3"}`}
    >
      <Icon name={icon} className="size-5" />
    </button>
  )
}

function Shown({ file, address }: { file: FileSummary; address: string }) {
  const [isBroken, setBroken] = useState(false)
  const { mimeType, fileName } = file
  const onError = () => setBroken(true)
  if (isBroken)
    return (
      <Unshown file={file}>
        <Trans>This browser can't display it.</Trans>
      </Unshown>
    )
  if (mimeType === "image/svg+xml" || (mimeType.startsWith("image/") && isShownInline(mimeType))) {
    return (
      <Centred>
        <img
          src={address}
          alt={fileName}
          onError={onError}
          className="max-h-full max-w-full object-contain"
        />
      </Centred>
    )
  }
  if (mimeType.startsWith("video/")) {
    return (
      <Centred>
        {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- it is the person's own film, with whatever it has in it */}
        <video
          src={address}
          controls
          autoPlay
          playsInline
          aria-label={fileName}
          onError={onError}
          className="max-h-full max-w-full"
        />
      </Centred>
    )
  }
  if (mimeType.startsWith("audio/")) {
    return (
      <Centred>
        {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- as above */}
        <audio src={address} controls aria-label={fileName} onError={onError} className="w-full max-w-lg" />
      </Centred>
    )
  }
  if (mimeType === "application/pdf") {
    // oxlint-disable-next-line react/iframe-missing-sandbox -- the answer itself is sandboxed; with the attribute Chromium would not draw it
    return <iframe src={address} title={fileName} className="size-full flex-1 border-0 bg-surface" />
  }
  if (isTextType(mimeType)) return <TextPreview file={file} address={address} />
  return (
    <Unshown file={file}>
      <Trans>No preview is available for this type of file.</Trans>
    </Unshown>
  )
}
