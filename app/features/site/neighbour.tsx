import { Link } from "react-router"
import { classNames } from "#app/ui/class-names.ts"

/** A link to the previous or next page, which is in English. The next one is on the right. */
export function Neighbour({
  to,
  title,
  label,
  isAfter = false,
}: {
  to: string
  title: string
  label: string
  isAfter?: boolean
}) {
  return (
    <Link
      to={to}
      className={classNames(
        "rounded-lg border border-line bg-surface p-4 shadow-sm transition-colors hover:border-line-strong",
        isAfter && "sm:col-start-2 sm:text-right",
      )}
    >
      <span className="text-sm text-faint">{label}</span>
      <span lang="en" className="mt-0.5 block font-medium">
        {title}
      </span>
    </Link>
  )
}
