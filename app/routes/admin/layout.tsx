import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, NavLink, Outlet, useLocation, useRouteLoaderData } from "react-router"
import { Alert } from "#app/ui/alert.tsx"
import { LanguageChoice } from "#app/ui/language-choice.tsx"
import { Logo } from "#app/ui/logo.tsx"
import { SkipLink } from "#app/ui/skip-link.tsx"
import { ThemeToggle } from "#app/ui/theme-toggle.tsx"
import type { loader as rootLoader } from "#app/root.tsx"
import { requireOperatorScope } from "#server/http/operator-scope.ts"
import { findChange } from "#server/operator/history.ts"
import { describeChange } from "./describe-act.ts"
import type { Route } from "./+types/layout.ts"

/** Only links and forms: these pages need no JavaScript. */
export const handle = { static: true }

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": "private, no-store" })

/**
 * `did` in the URL is the id of the last act. Its text comes from the recorded act, so a crafted
 * URL cannot invent one.
 */
export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const did = url.searchParams.get("did")
  const act = did === null ? null : await findChange(scope, did)
  return {
    email: scope.viewer.user.email,
    done: act?.operatorId === scope.viewer.session.userId ? act : null,
  }
}

const pages = [
  { to: href("/admin"), label: msg`Overview` },
  { to: href("/admin/people"), label: msg`People` },
  { to: href("/admin/spaces"), label: msg`Spaces` },
  { to: href("/admin/waitlist"), label: msg`Waitlist` },
  { to: href("/admin/emails"), label: msg`Emails` },
  { to: href("/admin/live"), label: msg`Live records` },
  { to: href("/admin/servers"), label: msg`Servers` },
  { to: href("/admin/history"), label: msg`History` },
  { to: href("/admin/security"), label: msg`Security log` },
]

export default function OperatorLayout({ loaderData: { email, done } }: Route.ComponentProps) {
  const { t, i18n } = useLingui()
  const { pathname, search } = useLocation()
  const here = pathname + search
  const did = done && describeChange(done, i18n)
  const theme = useRouteLoaderData<typeof rootLoader>("root")?.theme ?? "system"
  return (
    <div className="flex min-h-dvh flex-col">
      <SkipLink />
      <header className="border-b border-line bg-sunken">
        <div className="mx-auto flex max-w-5xl flex-wrap items-center gap-x-6 gap-y-1 px-5 pt-3 sm:px-8">
          <a href={href("/dashboard")} className="-mx-1 flex min-h-11 items-center rounded-md px-1">
            <Logo name="Tideline" />
          </a>
          <p className="min-w-0 flex-1 truncate text-right text-sm text-muted">
            <span className="max-sm:sr-only">
              <Trans>Administrator: </Trans>
            </span>
            {email}
          </p>
        </div>
        <nav aria-label={t`Administration`} className="mx-auto max-w-5xl px-3 sm:px-6">
          <ul className="flex flex-wrap gap-x-1">
            {pages.map(({ to, label }) => (
              <li key={to}>
                <NavLink
                  to={to}
                  end={to === href("/admin")}
                  className="flex min-h-11 items-center border-b-2 border-transparent px-2 text-sm font-medium whitespace-nowrap text-muted hover:text-ink focus-visible:-outline-offset-2 aria-[current=page]:border-accent aria-[current=page]:text-ink sm:px-3"
                >
                  {t(label)}
                </NavLink>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      <main
        id="main"
        tabIndex={-1}
        className="mx-auto w-full max-w-5xl flex-1 px-5 py-8 outline-hidden sm:px-8"
      >
        {did ? <Alert tone="success" title={t`Done: you ${did}.`} className="mb-6" /> : null}
        <Outlet />
      </main>
      <footer className="mx-auto flex w-full max-w-5xl items-center justify-between gap-4 px-5 py-6 text-sm text-muted sm:px-8">
        <a href={href("/dashboard")} className="flex min-h-11 items-center rounded-md hover:text-ink">
          <Trans>Back to the dashboard</Trans>
        </a>
        <div className="flex flex-wrap items-center justify-end gap-3">
          <LanguageChoice action={href("/language")} from={here} />
          <ThemeToggle theme={theme} action={href("/theme")} from={here} />
        </div>
      </footer>
    </div>
  )
}
