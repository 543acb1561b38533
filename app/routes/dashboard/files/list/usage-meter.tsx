import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { Link } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { classNames } from "#app/ui/class-names.ts"
import { defer, whenRendered } from "#app/ui/defer.tsx"
import { ProgressBar } from "#app/ui/progress-bar.tsx"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import type { FileUsage } from "#server/files/contract.ts"
import type { Loaded } from "#live/contract"
import type { Revision } from "./use-file-pages.ts"

const ReloadWith = defer(() => import("./reload-with-part.tsx"), whenRendered)((parts) => parts.ReloadWith)

type Stored = Pick<FileUsage, "used" | "trashed">

/** The share of the files that a plan allows from which their number is shown. */
const MANY = 0.9

/** What the files of the place take: of a space kept up to date, because it is no row of a table. */
export function PlaceUsage({
  usage,
  stored,
  revised,
  trash,
}: {
  usage: FileUsage
  /** What a space stores; null for what is personal. */
  stored: Stored | null
  revised: Loaded<Revision>
  /** The URL of the trash; null on the page of the trash itself. */
  trash: string | null
}) {
  const { isPaid } = usePlace()
  if (!stored) return <UsageMeter usage={usage} trash={trash} />
  return (
    <>
      <SpaceUsage stored={stored} owner={isPaid ? usage : null} trash={trash} />
      <ReloadWith revised={revised} />
    </>
  )
}

/** The used storage, how much of it the trash could free, and how many more files there may be. */
function UsageMeter({
  usage: { used, quota, trashed, files, mostFiles },
  trash,
}: {
  usage: FileUsage
  trash: string | null
}) {
  const formats = useFormats()
  const taken = formats.bytes(used)
  const total = formats.bytes(quota)
  const inTrash = formats.bytes(trashed)
  const count = formats.number(files)
  const most = formats.number(mostFiles)
  return (
    <Figures>
      <span>
        <Trans>
          {taken} of {total} used
        </Trans>
      </span>
      <StorageBar usage={{ used, quota }} className="w-24!" />
      {files >= MANY * mostFiles ? (
        <span>
          <Trans>
            {count} of {most} files
          </Trans>
        </span>
      ) : null}
      {trashed > 0 && trash !== null ? (
        <TrashLink to={trash}>
          <Trans>{inTrash} of that in the trash</Trans>
        </TrashLink>
      ) : null}
    </Figures>
  )
}

/** What a space stores, for its members, and for its owner how much of their storage is left. */
function SpaceUsage({
  stored,
  owner,
  trash,
}: {
  stored: Stored
  /** Null for anybody but the owner. */
  owner: FileUsage | null
  trash: string | null
}) {
  const formats = useFormats()
  const used = formats.bytes(stored.used)
  const trashed = formats.bytes(stored.trashed)
  const left = owner ? formats.bytes(Math.max(0, owner.quota - owner.used)) : ""
  const quota = owner ? formats.bytes(owner.quota) : ""
  return (
    <Figures>
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
        <TrashLink to={trash}>
          <Trans>{trashed} in the trash</Trans>
        </TrashLink>
      ) : null}
    </Figures>
  )
}

function Figures({ children }: { children: ReactNode }) {
  return (
    <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted tabular-nums">
      {children}
    </div>
  )
}

function TrashLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link to={to} className="rounded-sm underline-offset-2 hover:underline">
      {children}
    </Link>
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
