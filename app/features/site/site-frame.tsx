import type { ReactNode } from "react"
import { useLocation } from "react-router"
import { SkipLink } from "#app/ui/skip-link.tsx"
import type { Theme } from "#app/ui/theme-toggle.tsx"
import { SiteFooter } from "./site-footer.tsx"
import { SiteHeader } from "./site-header.tsx"

/** The header and footer of a public page. */
export function SiteFrame({
  isSignedIn,
  theme,
  docs,
  hasWaitlist = false,
  children,
}: {
  isSignedIn: boolean
  theme: Theme
  /** The URL of the documentation. */
  docs: string
  /** Whether new accounts begin there. */
  hasWaitlist?: boolean
  children: ReactNode
}) {
  const { pathname, search } = useLocation()
  return (
    <div className="flex min-h-dvh flex-col">
      <SkipLink />
      <SiteHeader isSignedIn={isSignedIn} docs={docs} />
      <main id="main" tabIndex={-1} className="flex-1 outline-hidden">
        {children}
      </main>
      <SiteFooter theme={theme} path={pathname + search} docs={docs} hasWaitlist={hasWaitlist} />
    </div>
  )
}
