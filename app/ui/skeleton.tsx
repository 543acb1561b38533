import { classNames } from "./class-names.ts"

/**
 * A placeholder for content that is loading. Give it the size of that content, so that nothing
 * jumps.
 */
export function Skeleton({ className }: { className?: string | undefined }) {
  return (
    <span aria-hidden="true" className={classNames("block animate-pulse rounded-sm bg-hover", className)} />
  )
}
