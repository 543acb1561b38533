import { Trans } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { useLocation } from "react-router"
import type { Theme } from "#app/ui/theme-toggle.tsx"
import { SiteFooter } from "./site-footer.tsx"
import { SiteHeader } from "./site-header.tsx"

/** The header and footer of a public page. */
export function SiteFrame({
  isSignedIn,
  theme,
  docs,
  children,
}: {
  isSignedIn: boolean
  theme: Theme
  /** The URL of the documentation. */
  docs: string
  children: ReactNode
}) {
  const { pathname, search } = useLocation()
  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent px-4 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-3 focus:left-3"
      >
        <Trans>Skip to content</Trans>
      </a>
      <SiteHeader isSignedIn={isSignedIn} docs={docs} />
      <main id="main" tabIndex={-1} className="flex-1 outline-hidden">
        {children}
      </main>
      <SiteFooter theme={theme} path={pathname + search} docs={docs} />
    </div>
  )
}
