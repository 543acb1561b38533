import { Trans, useLingui } from "@lingui/react/macro"
import { Link } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { classNames } from "#app/ui/class-names.ts"
import { ProgressBar } from "#app/ui/progress-bar.tsx"
import type { FileUsage } from "#server/files/contract.ts"

/** The used storage, and how much of it the trash could free. */
export function UsageMeter({
  usage: { used, quota, trashed },
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
  return (
    <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <span className="tabular-nums">
        <Trans>
          {taken} of {total} used
        </Trans>
      </span>
      <StorageBar usage={{ used, quota }} className="w-24!" />
      {trashed > 0 ? (
        <Link to={trash} className="rounded-sm underline-offset-2 hover:underline">
          <Trans>{inTrash} of that in the trash</Trans>
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
