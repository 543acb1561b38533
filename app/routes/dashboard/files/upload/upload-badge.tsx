import { Trans, useLingui } from "@lingui/react/macro"
import { classNames } from "#app/ui/class-names.ts"
import { useUploads } from "./use-uploads.ts"
import { percent } from "./upload-text.ts"
import { isRunning, sumOf } from "./upload.ts"

/**
 * Shows the progress of the uploads beside the link to the files, everywhere in the dashboard.
 * Renders nothing if there are none.
 */
export function UploadBadge({ className }: { className?: string }) {
  const { t } = useLingui()
  const { list } = useUploads()
  const isWaiting = list.some(({ state }) => state === "failed" || state === "missing" || state === "held")
  if (!list.some(isRunning) && !isWaiting) return null
  const { size, sent } = sumOf(list)
  return (
    <span
      className={classNames(
        "rounded-full px-1.5 text-xs tabular-nums",
        isWaiting ? "bg-warning-soft text-warning-ink" : "bg-accent-soft text-accent-ink",
        className,
      )}
    >
      <span className="sr-only">
        <Trans>, uploads:</Trans>{" "}
      </span>
      {isWaiting && !list.some(isRunning) ? "!" : `${percent(sent, size)} %`}
      <span className="sr-only">{isWaiting ? t`, some need your attention` : ""}</span>
    </span>
  )
}
