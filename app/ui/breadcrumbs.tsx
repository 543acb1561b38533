import { useLingui } from "@lingui/react/macro"
import { Link } from "react-router"
import { Icon } from "./icon.tsx"

/** The path to a page below others; the page itself is named by its heading. */
export function Breadcrumbs({ above }: { above: readonly { to: string; label: string }[] }) {
  const { t } = useLingui()
  return (
    <nav aria-label={t`Breadcrumbs`}>
      <ol className="-ml-1.5 flex flex-wrap items-center text-sm text-muted">
        {above.map(({ to, label }) => (
          <li key={to} className="flex items-center">
            <Link
              to={to}
              className="flex min-h-7 items-center rounded-sm px-1.5 transition-colors hover:bg-hover hover:text-ink touch:min-h-11"
            >
              {label}
            </Link>
            <Icon name="chevron-right" className="size-3.5 text-faint" />
          </li>
        ))}
      </ol>
    </nav>
  )
}
