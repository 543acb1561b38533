import { useLingui } from "@lingui/react/macro"
import { memo } from "react"
import { IconButton } from "#app/ui/icon-button.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { ProgressBar } from "#app/ui/progress-bar.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { CutName } from "#app/routes/dashboard/place/cut-name.tsx"
import { isRunning, type Upload } from "./upload.ts"
import { uploadQueue } from "./upload-queue.ts"
import { describeUpload } from "./upload-text.ts"

export const UploadRow = memo(function UploadRow({ upload }: { upload: Upload }) {
  const { i18n, t } = useLingui()
  const { id, name, state } = upload
  const hasPart = upload.sent > 0 && state !== "done" && state !== "failed"
  return (
    <li className="flex min-h-14 items-center gap-3 py-1.5 pr-2 pl-4 text-sm">
      <Icon name={LOOK[state].icon} className={LOOK[state].colour} />
      <div className="min-w-0 flex-1">
        <p dir="auto" className="font-medium" title={name}>
          <CutName name={name} />
        </p>
        <p
          className={classNames(
            "tabular-nums",
            state === "failed" ? "text-danger-ink" : "truncate text-faint",
            (state === "held" || state === "missing") && "text-warning-ink",
          )}
        >
          {describeUpload(upload, i18n)}
        </p>
        {state === "sending" || hasPart ? (
          <ProgressBar
            label={t`Sending ${name}`}
            share={upload.size === 0 ? 1 : upload.sent / upload.size}
            tone={state === "sending" ? "accent" : "quiet"}
            className="mt-1 rounded-full"
          />
        ) : null}
      </div>
      <div className="flex shrink-0">
        {isRunning(upload) ? (
          <IconButton label={t`Pause ${name}`} icon="pause" onPress={() => uploadQueue.pause(id)} />
        ) : null}
        {state === "paused" ? (
          <IconButton label={t`Resume ${name}`} icon="play" onPress={() => uploadQueue.resume(id)} />
        ) : null}
        {state === "failed" ? (
          <IconButton label={t`Try ${name} again`} icon="refresh" onPress={() => uploadQueue.resume(id)} />
        ) : null}
        <IconButton
          label={state === "failed" || state === "done" ? t`Dismiss ${name}` : t`Cancel ${name}`}
          icon="x"
          onPress={() => uploadQueue.remove([id])}
        />
      </div>
    </li>
  )
})

const LOOK: Record<Upload["state"], { icon: IconName; colour: string }> = {
  waiting: { icon: "clock", colour: "text-faint" },
  sending: { icon: "upload", colour: "text-accent-ink" },
  paused: { icon: "pause", colour: "text-muted" },
  held: { icon: "plug", colour: "text-warning-ink" },
  missing: { icon: "refresh", colour: "text-warning-ink" },
  done: { icon: "check-circle", colour: "text-success" },
  failed: { icon: "warning", colour: "text-danger-ink" },
}
