import { href, Outlet, useRouteLoaderData } from "react-router"
import { nonceContext, servicesContext } from "#server/context.ts"
import enhance from "#app/features/site/enhance.js?url&no-inline"
import { SiteFrame } from "#app/features/site/site-frame.tsx"
import type { loader as rootLoader } from "#app/root.tsx"
import { SiteError } from "#app/features/site/site-error.tsx"
import type { Route } from "./+types/layout.ts"

/** The public pages ship no React: they are links, forms and one small script. */
export const handle = { credential: "none", static: true, shared: true }

export function loader({ context }: Route.LoaderArgs) {
  const { docsUrl: docs, identity } = context.get(servicesContext).config
  const hasWaitlist = identity.signup === "closed" || identity.signup === "invited"
  return { nonce: context.get(nonceContext), docs, hasWaitlist }
}

export const links: Route.LinksFunction = () => [
  { rel: "alternate", type: "application/rss+xml", title: "Tideline blog", href: href("/blog/feed.xml") },
]

export default function MarketingLayout({ loaderData }: Route.ComponentProps) {
  const root = useRouteLoaderData<typeof rootLoader>("root")
  return (
    <SiteFrame
      isSignedIn={root?.isSignedIn ?? false}
      theme={root?.theme ?? "system"}
      docs={loaderData.docs}
      hasWaitlist={loaderData.hasWaitlist}
    >
      <Outlet />
      {/* Not `async`: React would move it to the head, where a cached one runs before there is a page. */}
      <script type="module" src={enhance} nonce={loaderData.nonce} />
    </SiteFrame>
  )
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <SiteError error={error} />
}
