import { classNames } from "#app/ui/class-names.ts"
import { formatBytes, type FileUsage } from "#server/files/contract.ts"

/** What the files take of the room there is. */
export function UsageMeter({ usage: { used, quota } }: { usage: FileUsage }) {
  const share = Math.min(1, used / quota)
  return (
    <div className="mt-1.5 flex items-center gap-3 text-sm text-muted">
      <span className="tabular-nums">
        {formatBytes(used)} of {formatBytes(quota)} used
      </span>
      <span aria-hidden="true" className="h-1.5 w-24 overflow-hidden rounded-full bg-hover">
        <span
          className={classNames("block h-full rounded-full", share < 0.9 ? "bg-accent" : "bg-warning")}
          style={{ width: `${share * 100}%` }}
        />
      </span>
    </div>
  )
}
