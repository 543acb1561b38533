import { useEffect, useRef, useState } from "react"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { formatBytes } from "#server/files/contract.ts"
import { uploadQueue, type Upload } from "./upload-queue.ts"

/** What is being sent, each file and all together, in a corner of the window. Nothing while there is nothing to see. */
export function UploadPanel({ uploads }: { uploads: readonly Upload[] }) {
  const total = summarise(uploads)
  return (
    <>
      <Announcement words={total.words} isBusy={total.isBusy} />
      {uploads.length === 0 ? null : (
        <>
          {/* The end of the page can be scrolled out from below the corner. */}
          <div aria-hidden="true" className="h-96" />
          <section
            aria-label="Uploads"
            className="fixed right-4 bottom-[calc(1rem+env(safe-area-inset-bottom)+var(--toast-inset,0px))] left-4 z-40 overflow-hidden rounded-lg border border-line bg-raised shadow-lg sm:left-auto sm:w-104 sm:right-6 lg:bottom-6"
          >
            <div className="flex items-center justify-between gap-4 px-4 py-3 text-sm">
              <p className="font-medium">{total.title}</p>
              <p className="text-faint tabular-nums">
                {formatBytes(total.sent)} of {formatBytes(total.size)}
              </p>
            </div>
            <Bar share={total.size === 0 ? 1 : total.sent / total.size} />
            <ul className="max-h-[min(20rem,50dvh)] divide-y divide-line overflow-y-auto">
              {uploads.map((upload) => (
                <UploadRow key={upload.id} upload={upload} />
              ))}
            </ul>
          </section>
        </>
      )}
    </>
  )
}

function UploadRow({ upload }: { upload: Upload }) {
  const { id, file, state } = upload
  const isRunning = state === "waiting" || state === "sending"
  return (
    <li className="flex min-h-13 items-center gap-3 px-4 py-1.5 text-sm">
      <StateIcon state={state} />
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{file.name}</p>
        {state === "failed" ? <p className="text-danger-ink">{upload.reason}</p> : null}
        {state === "sending" ? (
          <progress
            aria-label={`Sending ${file.name}`}
            value={upload.sent}
            max={Math.max(file.size, 1)}
            className="mt-1 block h-1 w-full appearance-none overflow-hidden rounded-full bg-hover [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-hover [&::-webkit-progress-value]:bg-accent"
          />
        ) : null}
      </div>
      <p className="shrink-0 text-faint tabular-nums">{describeState(upload)}</p>
      {state === "failed" ? (
        <PanelButton label={`Try ${file.name} again`} icon="refresh" onPress={() => uploadQueue.retry(id)} />
      ) : null}
      {state === "done" ? null : (
        <PanelButton
          label={`${isRunning ? "Cancel" : "Dismiss"} ${file.name}`}
          icon="x"
          onPress={() => uploadQueue.remove(id)}
        />
      )}
    </li>
  )
}

function PanelButton({
  label,
  icon,
  onPress,
}: {
  label: string
  icon: "x" | "refresh"
  onPress: () => void
}) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onPress}
      className="-mr-2 grid size-8 shrink-0 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink focus-visible:-outline-offset-2 touch:size-11"
    >
      <Icon name={icon} />
    </button>
  )
}

function StateIcon({ state }: { state: Upload["state"] }) {
  if (state === "done") return <Icon name="check-circle" className="text-success" />
  if (state === "failed") return <Icon name="warning" className="text-danger-ink" />
  return <Icon name="upload" className={state === "sending" ? "text-accent-ink" : "text-faint"} />
}

function describeState(upload: Upload): string {
  switch (upload.state) {
    case "waiting":
      return "Waiting"
    case "sending":
      // The bytes are on the disk of the server a moment after the last one was sent.
      return upload.sent >= upload.file.size ? "Storing" : `${percent(upload.sent, upload.file.size)} %`
    case "done":
      return formatBytes(upload.file.size)
    case "failed":
      return ""
  }
}

function Bar({ share }: { share: number }) {
  return (
    <div aria-hidden="true" className="h-0.5 bg-hover">
      <div
        className={classNames("h-full bg-accent transition-[width] duration-200")}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  )
}

/** Says how it goes: every few seconds while files are being sent, at once when they are not. */
function Announcement({ words, isBusy }: { words: string; isBusy: boolean }) {
  const [said, setSaid] = useState("")
  const saidAt = useRef(0)
  useEffect(() => {
    const wait = isBusy ? Math.max(0, saidAt.current + 5000 - Date.now()) : 0
    const saying = setTimeout(() => {
      if (isBusy) saidAt.current = Date.now()
      setSaid(words)
    }, wait)
    return () => clearTimeout(saying)
  }, [words, isBusy])
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  )
}

function summarise(uploads: readonly Upload[]) {
  const counted = uploads.filter((upload) => upload.state !== "failed")
  const failed = uploads.length - counted.length
  const done = counted.filter((upload) => upload.state === "done").length
  const isBusy = done < counted.length
  const size = counted.reduce((sum, { file }) => sum + file.size, 0)
  const sent = counted.reduce((sum, upload) => sum + sentOf(upload), 0)
  const title = isBusy
    ? `Uploading ${done + 1} of ${plural(counted.length)}`
    : [done > 0 && `${plural(done)} uploaded`, failed > 0 && `${plural(failed)} not uploaded`]
        .filter(Boolean)
        .join(", ")
  return { title, size, sent, isBusy, words: isBusy ? `${title}, ${percent(sent, size)} percent` : title }
}

function sentOf(upload: Upload): number {
  if (upload.state === "done") return upload.file.size
  return upload.state === "sending" ? Math.min(upload.sent, upload.file.size) : 0
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.floor((part / whole) * 100)
}

function plural(count: number): string {
  return count === 1 ? "1 file" : `${count} files`
}
