import { Link } from "react-router"
import { ProgressBar } from "#app/ui/progress-bar.tsx"
import { formatBytes, type FileUsage } from "#server/files/contract.ts"

/** What the files take of the room there is, and what of it the trash could give back. */
export function UsageMeter({ usage: { used, quota, trashed } }: { usage: FileUsage }) {
  const share = used / quota
  return (
    <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <span className="tabular-nums">
        {formatBytes(used)} of {formatBytes(quota)} used
      </span>
      <ProgressBar
        label="Room that is used"
        share={share}
        tone={share < 0.9 ? "accent" : share < 1 ? "warning" : "danger"}
        className="h-1.5 w-24! rounded-full"
      />
      {trashed > 0 ? (
        <Link to="/dashboard/files/trash" className="rounded-sm underline-offset-2 hover:underline">
          {formatBytes(trashed)} of it in the trash
        </Link>
      ) : null}
    </div>
  )
}
