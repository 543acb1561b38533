import { classNames } from "./class-names.ts"

/**
 * Holds the place of what is being fetched. Give it the size of what will come, so that nothing
 * jumps.
 */
export function Skeleton({ className }: { className?: string | undefined }) {
  return (
    <span aria-hidden="true" className={classNames("block animate-pulse rounded-sm bg-hover", className)} />
  )
}
