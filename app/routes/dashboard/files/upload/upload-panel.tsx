import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useRef, useState } from "react"
import { useFormats } from "#app/language/formats.ts"
import { Button } from "#app/ui/button.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { GhostButton } from "#app/ui/icon-button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { ProgressBar } from "#app/ui/progress-bar.tsx"
import type { Chosen, Upload, Uploads } from "./upload.ts"
import { FileInput, useFileInput } from "./file-input.tsx"
import { uploadQueue } from "./upload-queue.ts"
import { UploadRow } from "./upload-row.tsx"
import { summarise, type UploadSummary } from "./upload-text.ts"

/** The number of rows to render. Uploads that need the user come first. */
const MOST_ROWS = 60

/**
 * The uploads, one by one and in total, in a corner of the window. Renders nothing if there are
 * none.
 */
export function UploadPanel({
  uploads,
  onFiles,
}: {
  uploads: Uploads
  onFiles: (chosen: readonly Chosen[]) => void
}) {
  const { i18n } = useLingui()
  const [chosen, setChosen] = useState<boolean | null>(null)
  // Once nothing is left to do, it is one line, and covers no more than that.
  const isOpen = chosen ?? uploads.list.some(({ state }) => state !== "done")
  const summary = uploads.list.length === 0 ? null : summarise(uploads, i18n)
  return (
    <>
      <Announcement words={summary?.spoken ?? ""} isBusy={summary?.isBusy ?? false} />
      {summary ? (
        <Panel list={uploads.list} summary={summary} isOpen={isOpen} onOpen={setChosen} onFiles={onFiles} />
      ) : null}
    </>
  )
}

function Panel({
  list,
  summary,
  isOpen,
  onOpen,
  onFiles,
}: {
  list: readonly Upload[]
  summary: UploadSummary
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
  onFiles: (chosen: readonly Chosen[]) => void
}) {
  const { t } = useLingui()
  const rows = inOrderOfNeed(list)
  const others = useFormats().number(rows.length - MOST_ROWS)
  return (
    <>
      {/* Lets the user scroll the end of the page out from under the panel. */}
      <div aria-hidden="true" className={isOpen ? "h-96" : "h-24"} />
      <section
        aria-label={t`Uploads`}
        className="fixed right-3 bottom-[calc(0.75rem+env(safe-area-inset-bottom)+var(--toast-inset,0px)+var(--selection-inset,0px))] left-3 z-40 overflow-hidden rounded-lg border border-line bg-raised shadow-lg sm:right-6 sm:left-auto sm:w-108 lg:bottom-[calc(1.5rem+var(--selection-inset,0px))]"
      >
        <Head summary={summary} isOpen={isOpen} onOpen={onOpen} ids={rows.map(({ id }) => id)} />
        <ProgressBar label={t`All uploads`} share={summary.share} />
        {isOpen ? (
          <>
            <Notices summary={summary} onFiles={onFiles} />
            <ul className="max-h-[min(20rem,45dvh)] divide-y divide-line overflow-y-auto">
              {rows.slice(0, MOST_ROWS).map((upload) => (
                <UploadRow key={upload.id} upload={upload} />
              ))}
              {rows.length > MOST_ROWS ? (
                <li className="px-4 py-2.5 text-sm text-faint">
                  <Trans>and {others} more</Trans>
                </li>
              ) : null}
            </ul>
          </>
        ) : null}
      </section>
    </>
  )
}

function Head({
  summary: { title, detail, canPause, canResume, isBusy },
  isOpen,
  onOpen,
  ids,
}: {
  summary: UploadSummary
  isOpen: boolean
  onOpen: (open: boolean) => void
  ids: readonly string[]
}) {
  const { t } = useLingui()
  return (
    <div className="flex items-center gap-1 py-2.5 pr-2 pl-4">
      <div className="min-w-0 flex-1 text-sm">
        <p className="truncate font-medium">{title}</p>
        <p className="truncate text-faint tabular-nums">{detail}</p>
      </div>
      {canPause ? <GhostButton label={t`Pause all`} icon="pause" onClick={uploadQueue.pauseAll} /> : null}
      {canResume ? <GhostButton label={t`Resume all`} icon="play" onClick={uploadQueue.resumeAll} /> : null}
      <GhostButton
        label={isOpen ? t`Show less` : t`Show each upload`}
        icon={isOpen ? "chevron-down" : "chevron-up"}
        aria-expanded={isOpen}
        onClick={() => onOpen(!isOpen)}
      />
      <GhostButton
        label={isBusy || canResume ? t`Cancel all` : t`Close`}
        icon="x"
        onClick={() => uploadQueue.remove(ids)}
      />
    </div>
  )
}

/** Problems that concern several uploads, with their remedies. */
function Notices({
  summary: { isOffline, missing },
  onFiles,
}: {
  summary: UploadSummary
  onFiles: (chosen: readonly Chosen[]) => void
}) {
  const { t } = useLingui()
  const again = useFileInput(onFiles)
  const mayAsk = missing.some((upload) => upload.state === "missing" && upload.mayAsk)
  if (missing.length === 0 && !isOffline) return null
  return (
    <div className={classNames("border-b border-line bg-sunken px-4 py-3 text-sm", "grid gap-2.5")}>
      {isOffline ? (
        <p className="flex gap-2 text-warning-ink">
          <Icon name="warning" className="mt-0.75" />
          <Trans>You're offline. Uploads resume automatically when you're back online.</Trans>
        </p>
      ) : null}
      {missing.length > 0 ? (
        <>
          <p className="text-muted">
            {mayAsk
              ? t`The page was reloaded. Allow the browser to read the files again to resume the uploads.`
              : t`The page was reloaded. Choose the same files again to resume the uploads.`}
          </p>
          <div className="flex gap-2">
            {mayAsk ? (
              <Button size="sm" onClick={() => void uploadQueue.reopen()}>
                <Trans context="go on">Continue</Trans>
              </Button>
            ) : (
              <Button size="sm" onClick={again.open}>
                <Trans>Choose again</Trans>
              </Button>
            )}
          </div>
          <FileInput {...again} label={t`Files to resume`} />
        </>
      ) : null}
    </div>
  )
}

function inOrderOfNeed(uploads: readonly Upload[]): readonly Upload[] {
  return uploads.toSorted((one, other) => NEED[one.state] - NEED[other.state])
}

const NEED: Record<Upload["state"], number> = {
  failed: 0,
  missing: 1,
  held: 2,
  sending: 3,
  paused: 4,
  waiting: 5,
  done: 6,
}

/**
 * Announces progress to screen readers: every few seconds while files are being sent, otherwise
 * immediately.
 */
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
