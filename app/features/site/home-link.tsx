import { useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { Logo } from "#app/ui/logo.tsx"

/** The logo, on pages that have no navigation. */
export function HomeLink() {
  const { t } = useLingui()
  return (
    <a
      href={href("/")}
      className="-mx-1 inline-flex min-h-11 items-center rounded-md px-1 text-lg"
      aria-label={t`Tideline, home page`}
    >
      <Logo name="Tideline" />
    </a>
  )
}
