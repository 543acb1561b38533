import { Trans, useLingui } from "@lingui/react/macro"
import { Link } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { classNames } from "#app/ui/class-names.ts"
import { ProgressBar } from "#app/ui/progress-bar.tsx"
import type { FileUsage } from "#server/files/contract.ts"

/** The share of the files that a plan allows from which their number is shown. */
const MANY = 0.9

/** The used storage, how much of it the trash could free, and how many more files there may be. */
export function UsageMeter({
  usage: { used, quota, trashed, files, mostFiles },
  trash,
}: {
  usage: FileUsage
  /** The URL of the trash. */
  trash: string
}) {
  const formats = useFormats()
  const taken = formats.bytes(used)
  const total = formats.bytes(quota)
  const inTrash = formats.bytes(trashed)
  const count = formats.number(files)
  const most = formats.number(mostFiles)
  return (
    <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <span className="tabular-nums">
        <Trans>
          {taken} of {total} used
        </Trans>
      </span>
      <StorageBar usage={{ used, quota }} className="w-24!" />
      {files >= MANY * mostFiles ? (
        <span className="tabular-nums">
          <Trans>
            {count} of {most} files
          </Trans>
        </span>
      ) : null}
      {trashed > 0 ? (
        <Link to={trash} className="rounded-sm underline-offset-2 hover:underline">
          <Trans>{inTrash} of that in the trash</Trans>
        </Link>
      ) : null}
    </div>
  )
}

/** What a space stores, for its members, and for its owner how much of their storage is left. */
export function SpaceUsage({
  stored,
  owner,
  trash,
}: {
  stored: Pick<FileUsage, "used" | "trashed">
  /** Null for anybody but the owner. */
  owner: FileUsage | null
  /** The URL of the trash; null on the page of the trash itself. */
  trash: string | null
}) {
  const formats = useFormats()
  const used = formats.bytes(stored.used)
  const trashed = formats.bytes(stored.trashed)
  const left = owner ? formats.bytes(Math.max(0, owner.quota - owner.used)) : ""
  const quota = owner ? formats.bytes(owner.quota) : ""
  return (
    <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted tabular-nums">
      <span>
        <Trans>{used} in this space</Trans>
      </span>
      {owner ? (
        <span>
          <Trans>
            {left} of your {quota} left
          </Trans>
        </span>
      ) : null}
      {stored.trashed > 0 && trash !== null ? (
        <Link to={trash} className="rounded-sm underline-offset-2 hover:underline">
          <Trans>{trashed} in the trash</Trans>
        </Link>
      ) : null}
    </div>
  )
}

/** How full the storage is: changes colour at nine tenths, and again when it is full. */
export function StorageBar({
  usage: { used, quota },
  className,
}: {
  usage: Pick<FileUsage, "used" | "quota">
  className?: string
}) {
  const { t } = useLingui()
  const share = used / quota
  return (
    <ProgressBar
      label={t`Storage used`}
      share={share}
      tone={share < 0.9 ? "accent" : share < 1 ? "warning" : "danger"}
      className={classNames("h-1.5 rounded-full", className)}
    />
  )
}
