import { href, useRouteLoaderData } from "react-router"
import { ErrorNotice } from "#app/features/site/error-page.tsx"
import { SiteFrame } from "#app/features/site/site-frame.tsx"
import type { loader as rootLoader } from "#app/root.tsx"

/** An error between the header and the footer of the public pages. */
export function SiteError({ error }: { error: unknown }) {
  const root = useRouteLoaderData<typeof rootLoader>("root")
  return (
    <SiteFrame isSignedIn={root?.isSignedIn ?? false} theme={root?.theme ?? "system"} docs={href("/docs")}>
      <ErrorNotice error={error} requestId={root?.requestId} />
    </SiteFrame>
  )
}
