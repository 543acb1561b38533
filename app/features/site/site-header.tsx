import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link, NavLink } from "react-router"
import { SIGN_IN, SIGN_UP } from "#app/features/identity/addresses.ts"
import { buttonClass, LinkButton } from "#app/ui/button.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { Logo } from "#app/ui/logo.tsx"

/**
 * The header of the public pages. On a phone the menu is a popover, which opens, closes and returns
 * the focus without JavaScript.
 */
export function SiteHeader({ isSignedIn, docs }: { isSignedIn: boolean; docs: string }) {
  const { t } = useLingui()
  return (
    <header className="sticky top-0 z-30 border-b border-line bg-canvas/85 backdrop-blur-md">
      <div className="mx-auto flex h-16 max-w-6xl items-center gap-8 px-5 sm:px-8">
        <Link
          to={href("/")}
          className="-mx-1 flex min-h-11 items-center rounded-md px-1 text-lg"
          aria-label={t`Tideline, home page`}
        >
          <Logo name="Tideline" />
        </Link>
        <nav aria-label={t`Main`} className="hidden gap-1 md:flex">
          {places(docs).map(({ to, label }) => (
            <NavLink key={to} to={to} className={placeClass}>
              {t(label)}
            </NavLink>
          ))}
        </nav>
        <div className="ml-auto hidden items-center gap-2 md:flex">
          <AccountLinks isSignedIn={isSignedIn} size="sm" />
        </div>
        <button
          type="button"
          popoverTarget="site-menu"
          aria-label={t`Menu`}
          className={buttonClass({ variant: "ghost", size: "icon" }, "ml-auto min-h-11 min-w-11 md:hidden")}
        >
          <Icon name="menu" className="size-5" />
        </button>
      </div>
      <div
        id="site-menu"
        popover="auto"
        className="fixed inset-x-0 top-16 bottom-auto m-0 w-full max-w-none border-b border-line bg-canvas p-5 text-ink shadow-lg md:hidden"
      >
        <nav aria-label={t`Main, small screens`} className="flex flex-col">
          {places(docs).map(({ to, label }) => (
            <NavLink
              key={to}
              to={to}
              className="flex min-h-12 items-center rounded-md text-lg font-medium aria-[current=page]:text-accent-ink"
            >
              {t(label)}
            </NavLink>
          ))}
        </nav>
        <div className="mt-4 grid gap-2">
          <AccountLinks isSignedIn={isSignedIn} size="lg" />
        </div>
      </div>
    </header>
  )
}

function AccountLinks({ isSignedIn, size }: { isSignedIn: boolean; size: "sm" | "lg" }) {
  if (isSignedIn) {
    return (
      <LinkButton to={href("/dashboard")} size={size}>
        <Trans>Dashboard</Trans>
      </LinkButton>
    )
  }
  return (
    <>
      <LinkButton to={SIGN_IN} variant={size === "sm" ? "ghost" : "secondary"} size={size}>
        <Trans>Sign in</Trans>
      </LinkButton>
      <LinkButton to={SIGN_UP} size={size}>
        <Trans>Sign up</Trans>
      </LinkButton>
    </>
  )
}

function places(docs: string) {
  return [
    { to: href("/features"), label: msg`Features` },
    { to: href("/pricing"), label: msg`Plans` },
    { to: docs, label: msg`Docs` },
    { to: href("/blog"), label: msg`Blog` },
    { to: href("/about"), label: msg`About` },
  ]
}

function placeClass({ isActive }: { isActive: boolean }) {
  return classNames(
    "flex min-h-9 items-center rounded-md px-3 text-sm transition-colors hover:text-ink touch:min-h-11",
    isActive ? "font-medium text-ink" : "text-muted",
  )
}
