import { href, useRouteLoaderData } from "react-router"
import type { Theme } from "#app/ui/theme-toggle.tsx"
import { ErrorNotice } from "./error-page.tsx"
import { SiteFrame } from "./site-frame.tsx"

/** What the root loader says. */
type Root = { isSignedIn: boolean; theme: Theme; requestId: string }

/** An error between the header and the footer of the public pages. */
export function SiteError({ error }: { error: unknown }) {
  const root = useRouteLoaderData<Root>("root")
  return (
    <SiteFrame isSignedIn={root?.isSignedIn ?? false} theme={root?.theme ?? "system"} docs={href("/docs")}>
      <ErrorNotice error={error} requestId={root?.requestId} />
    </SiteFrame>
  )
}
