import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useState, type KeyboardEvent, type ReactNode } from "react"
import { href } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { buttonClass } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { Stage } from "#app/ui/stage.tsx"
import { isShownInline, isTextType, type FileSummary } from "#server/files/contract.ts"
import { request } from "#app/routes/dashboard/requests/send.ts"
import { iconOf } from "./file-thumbnail.tsx"

const DAY_AND_TIME = { dateStyle: "medium", timeStyle: "short" } as const

/** Bytes of a text that are shown. */
const TEXT_SHOWN = 200_000

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
      className={`absolute top-1/2 grid size-11 -translate-y-1/2 place-items-center rounded-full border border-line bg-raised/90 text-muted shadow-md hover:text-ink ${icon === "chevron-left" ? "left-3" : "right-3"}`}
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
  if (isTextType(mimeType)) return <Text file={file} address={address} />
  return (
    <Unshown file={file}>
      <Trans>No preview is available for this type of file.</Trans>
    </Unshown>
  )
}

function Centred({ children }: { children: ReactNode }) {
  return <div className="flex min-h-0 flex-1 items-center justify-center p-4 sm:px-18">{children}</div>
}

function Unshown({ file, children }: { file: FileSummary; children: ReactNode }) {
  return (
    <div className="flex flex-1 flex-col items-center justify-center gap-4 p-6 text-center">
      <span className="grid size-16 place-items-center rounded-xl border border-line bg-surface text-faint">
        <Icon name={iconOf(file.mimeType)} className="size-7" />
      </span>
      <p className="text-sm text-muted">{children}</p>
      <a
        href={href("/api/files/:fileId", { fileId: file._id }) + "?download"}
        download={file.fileName}
        className={buttonClass({ size: "sm" })}
      >
        <Icon name="download" />
        <Trans>Download</Trans>
      </a>
    </div>
  )
}

/** The beginning of a text file, always as plain text. */
function Text({ file, address }: { file: FileSummary; address: string }) {
  const { t } = useLingui()
  const formats = useFormats()
  const [read, setRead] = useState<{ text: string } | { problem: string } | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    readText(address, file.size, stop.signal).then(
      (text) => setRead({ text }),
      (error: Error) => {
        if (!stop.signal.aborted) setRead({ problem: error.message })
      },
    )
    return () => stop.abort()
  }, [address, file.size])

  if (!read) {
    return (
      <Centred>
        <Spinner label={t`Loading the file`} />
      </Centred>
    )
  }
  if ("problem" in read) return <Unshown file={file}>{read.problem}</Unshown>
  if (read.text === "")
    return (
      <Unshown file={file}>
        <Trans>The file is empty.</Trans>
      </Unshown>
    )
  const shown = formats.bytes(TEXT_SHOWN)
  const size = formats.bytes(file.size)
  return (
    <>
      {file.size > TEXT_SHOWN ? (
        <p className="border-b border-line bg-sunken px-5 py-2 text-sm text-muted">
          <Trans>
            Showing the first {shown} of {size}. Download the file to see all of it.
          </Trans>
        </p>
      ) : null}
      <pre
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto bg-surface p-5 font-mono text-sm leading-relaxed whitespace-pre-wrap wrap-anywhere"
      >
        {read.text}
      </pre>
    </>
  )
}

async function readText(address: string, size: number, signal: AbortSignal): Promise<string> {
  if (size === 0) return ""
  const response = await request(address, { signal, headers: { Range: `bytes=0-${TEXT_SHOWN - 1}` } })
  const [{ decodeText }, bytes] = await Promise.all([
    import("#server/files/text-contract.ts"),
    response.arrayBuffer(),
  ])
  return decodeText(new Uint8Array(bytes))
}
