import { useEffect, useRef } from "react"
import { Link, Outlet, redirect, useLocation } from "react-router"
import { useLive } from "#app/realtime/use-live.tsx"
import { Logo } from "#app/ui/logo.tsx"
import { liveThreads } from "#server/chat/live.ts"
import { loadLive } from "#server/http/live.ts"
import { requireScope } from "#server/http/scope.ts"
import { onboardingOf } from "#server/users/contract.ts"
import { BottomNavigation } from "./bottom-navigation.tsx"
import { FreshnessNotice } from "./freshness-notice.tsx"
import { Sidebar } from "./sidebar.tsx"
import { UserMenu } from "./user-menu.tsx"
import type { Route } from "./+types/shell.ts"

const RECENT_THREADS = 8

/** Before any page inside loads its data: nothing of it is drawn for somebody who has yet to be onboarded. */
export const middleware: Route.MiddlewareFunction[] = [
  async ({ context }) => {
    const { viewer } = await requireScope(context)
    if (!onboardingOf(viewer.user).completed) throw redirect("/onboarding")
  },
]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const [threads] = await loadLive(scope, [liveThreads, {}])
  return { threads }
}

/** The frame around the pages. A page that fills the window is `100dvh` less `--frame` high. */
export default function Shell({ loaderData }: Route.ComponentProps) {
  const main = useFocusOnNavigation()
  const threads = useLive(loaderData.threads).slice(0, RECENT_THREADS)
  return (
    <div className="[--frame:calc(7.5rem+env(safe-area-inset-bottom)+env(safe-area-inset-top))] lg:grid lg:grid-cols-[16.5rem_minmax(0,1fr)] lg:[--frame:0px]">
      <a
        href="#main"
        className="fixed top-2 left-2 z-50 -translate-y-20 rounded-md border border-line-strong bg-raised px-4 py-2.5 text-sm font-medium shadow-md focus-visible:translate-y-0"
      >
        Skip to the page
      </a>
      <Sidebar threads={threads} />
      <header className="sticky top-0 z-30 flex h-[calc(3.5rem+env(safe-area-inset-top))] items-center justify-between border-b border-line bg-canvas/85 px-4 pt-[env(safe-area-inset-top)] backdrop-blur-md lg:hidden">
        <Link to="/dashboard" className="-mx-1 flex min-h-11 items-center rounded-md px-1">
          <Logo name="Tideline" />
        </Link>
        <UserMenu place="top" />
      </header>
      <main
        ref={main}
        id="main"
        tabIndex={-1}
        className="min-h-[calc(100dvh-var(--frame))] min-w-0 outline-hidden"
      >
        <Outlet />
      </main>
      <div className="h-[calc(4rem+env(safe-area-inset-bottom))] lg:hidden" />
      <BottomNavigation />
      <FreshnessNotice />
    </div>
  )
}

/** After a link was followed, the keyboard and the screen reader continue at the new page; unless it took the focus itself. */
function useFocusOnNavigation() {
  const main = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  const shown = useRef(pathname)
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true })
  }, [pathname])
  return main
}
