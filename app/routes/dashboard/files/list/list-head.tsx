import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { Link } from "react-router"
import { Checkmark } from "#app/ui/checkmark.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import type { ListFiles, Sort } from "#server/files/contract.ts"
import { addressOf } from "./use-file-pages.ts"

/** The heads of the columns, which sort, and a checkbox for all files. Not on a phone. */
export function ListHead({
  query,
  isAll,
  isSome,
  onAll,
  onNone,
}: {
  query: ListFiles
  /** Whether all files are selected. */
  isAll: boolean
  /** Whether some are, but not all. */
  isSome: boolean
  onAll: () => void
  onNone: () => void
}) {
  const { t } = useLingui()
  const isShared = usePlace().nameOf !== null
  const beside = isShared ? "hidden xl:block" : undefined
  return (
    <div className="mt-4 -mb-2 hidden h-9 items-center gap-3.5 pr-3 pl-4.25 text-sm text-faint sm:flex">
      <Checkmark
        label={t`Select all`}
        isChecked={isAll}
        isMixed={isSome}
        onChange={isAll ? onNone : onAll}
        className="noscript:hidden"
      />
      <div className="ml-13 flex min-w-0 flex-1 gap-6">
        <Column query={query} ways={["name", "name-desc"]} className="mr-auto">
          <Trans>Name</Trans>
        </Column>
        <Column query={query} ways={["largest", "smallest"]} className={classNames("w-18", beside)}>
          <Trans>Size</Trans>
        </Column>
        {query.sort.startsWith("modified") ? null : (
          <span className={classNames("hidden w-44", isShared ? "2xl:block" : "xl:block")} />
        )}
        <Column query={query} ways={["newest", "oldest"]} className={classNames("w-26", beside)}>
          <Trans>Added</Trans>
        </Column>
      </div>
      <span className="w-18 noscript:w-36" />
    </div>
  )
}

/** Sorts in the first of the ways, or in the other one if it does already. */
function Column({
  query,
  ways: [first, other],
  className,
  children,
}: {
  query: ListFiles
  ways: [Sort, Sort]
  className?: string
  children: ReactNode
}) {
  const { sort } = query
  const isSorted = sort === first || sort === other
  // A name from A to Z and the latest time are at the top in the first way.
  const isUp = first === "name" ? sort === first : sort === other
  return (
    <span className={classNames("text-right", className)}>
      <Link
        to={addressOf({ ...query, sort: sort === first ? other : first })}
        preventScrollReset
        aria-current={isSorted ? "true" : undefined}
        className="inline-flex min-h-7 items-center gap-1 rounded-sm hover:text-ink aria-[current]:font-medium aria-[current]:text-ink"
      >
        {children}
        {isSorted ? <Icon name={isUp ? "chevron-up" : "chevron-down"} className="size-3" /> : null}
      </Link>
    </span>
  )
}
