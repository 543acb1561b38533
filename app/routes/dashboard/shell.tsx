import { useLingui } from "@lingui/react/macro"
import { useEffect, useRef } from "react"
import { href, Link, Outlet, redirect, useLocation } from "react-router"
import { keepOnNavigation } from "#app/features/navigation/keep-on-navigation.ts"
import { useLive } from "#live/react"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Logo } from "#app/ui/logo.tsx"
import { isOverlayOpen } from "#app/ui/open-overlay.ts"
import { SkipLink } from "#app/ui/skip-link.tsx"
import { liveThreads } from "#server/chat/live.ts"
import { loadLive } from "#server/http/live.ts"
import { requireScope } from "#server/http/scope.ts"
import { onboardingOf } from "#server/users/contract.ts"
import { BottomNavigation } from "./bottom-navigation.tsx"
import { CommandsProvider, useCommand } from "./commands/commands.tsx"
import { FreshnessNotice } from "./freshness-notice.tsx"
import { NotificationsLink } from "./notifications/notifications-link.tsx"
import { PageSkeleton } from "./page-skeleton.tsx"
import { Sidebar } from "./sidebar.tsx"
import { Switcher } from "./spaces/switcher.tsx"
import { useOffersSpaces } from "./place/use-spaces.ts"
import { useAwaitedPage } from "./use-awaited-page.ts"
import { UserMenu } from "./user-menu.tsx"
import type { Route } from "./+types/shell.ts"

const RECENT_THREADS = 8

/**
 * Runs before any page inside loads its data: a user who has yet to be onboarded sees none of it.
 */
export const middleware: Route.MiddlewareFunction[] = [
  async ({ context }) => {
    const { viewer } = await requireScope(context)
    if (!onboardingOf(viewer.user).completed) throw redirect(href("/onboarding"))
  },
]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const [threads] = await loadLive(scope, [liveThreads, {}])
  return { threads }
}

export const shouldRevalidate = keepOnNavigation

/**
 * The frame around the pages. A page that fills the window has the height `100dvh` minus `--frame`.
 */
export default function Shell({ loaderData }: Route.ComponentProps) {
  const main = useFocusOnNavigation()
  const threads = useLive(loaderData.threads).slice(0, RECENT_THREADS)
  const awaited = useAwaitedPage()
  return (
    <CommandsProvider threads={threads}>
      <div className="[--frame:calc(7.5rem+env(safe-area-inset-bottom)+env(safe-area-inset-top))] lg:grid lg:grid-cols-[16.5rem_minmax(0,1fr)] lg:[--frame:0px]">
        <SkipLink />
        <Sidebar threads={threads} />
        <TopBar />
        <main
          ref={main}
          id="main"
          tabIndex={-1}
          aria-busy={awaited ? true : undefined}
          className="min-h-[calc(100dvh-var(--frame))] min-w-0 outline-hidden"
        >
          {awaited ? <PageSkeleton path={awaited} /> : null}
          {/* Kept with everything typed into it, in case the navigation is cancelled. */}
          <div hidden={awaited !== null} className="contents">
            <Outlet />
          </div>
        </main>
        <div className="h-[calc(4rem+env(safe-area-inset-bottom))] lg:hidden" />
        <BottomNavigation />
        <FreshnessNotice />
      </div>
    </CommandsProvider>
  )
}

/** What the sidebar has on a wide screen and the bottom navigation lacks. */
function TopBar() {
  const { t } = useLingui()
  const command = useCommand()
  const offersSpaces = useOffersSpaces()
  return (
    <header className="sticky top-0 z-30 flex h-[calc(3.5rem+env(safe-area-inset-top))] items-center gap-1 border-b border-line bg-canvas/85 px-4 pt-[env(safe-area-inset-top)] backdrop-blur-md lg:hidden">
      {offersSpaces ? (
        <>
          <Link
            to={href("/dashboard")}
            aria-label={t`Tideline, dashboard`}
            className="-mx-1 flex min-h-11 items-center rounded-md px-1"
          >
            <Logo />
          </Link>
          <Switcher place="top" />
        </>
      ) : (
        <Link to={href("/dashboard")} className="-mx-1 mr-auto flex min-h-11 items-center rounded-md px-1">
          <Logo name="Tideline" />
        </Link>
      )}
      {offersSpaces ? <NotificationsLink className="size-11" /> : null}
      <Button
        variant="ghost"
        size="icon"
        aria-label={t`Search`}
        onClick={() => command?.("palette")}
        className="size-11 noscript:hidden"
      >
        <Icon name="search" className="size-4.5" />
      </Button>
      <UserMenu place="top" />
    </header>
  )
}

/**
 * After a navigation, moves the keyboard and the screen reader to the new page, unless that took
 * the focus itself or an overlay has it.
 */
function useFocusOnNavigation() {
  const main = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  const shown = useRef(pathname)
  // Pages animate in, except the first. Set as an attribute, because a prop would render the whole
  // shell again.
  useEffect(() => main.current?.setAttribute("data-arrives", ""), [])
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    if (main.current?.contains(document.activeElement) || isOverlayOpen()) return
    main.current?.focus({ preventScroll: true })
  }, [pathname])
  return main
}
