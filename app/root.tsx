import { I18nProvider } from "@lingui/react"
import geist from "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2?url"
import { useState, type ReactNode } from "react"
import { Links, Meta, Outlet, Scripts, ScrollRestoration, useMatches, useRouteLoaderData } from "react-router"
import { requestIdContext, servicesContext, sessionContext } from "#server/context.ts"
import { guard, identify } from "#server/http/guard.ts"
import { perform } from "#server/http/perform.ts"
import { readLanguage } from "#server/transport/language.ts"
import { readTheme } from "#server/transport/theme.ts"
import { ClerkBoundary } from "./features/identity/clerk.tsx"
import { keepOnNavigation } from "./features/navigation/keep-on-navigation.ts"
import { TransitionFailures } from "./features/navigation/transition-failures.tsx"
import { ErrorPage } from "./features/site/error-page.tsx"
import { useReader } from "./features/site/reader.ts"
import { i18nIn } from "./language/i18n.ts"
import type { Route } from "./+types/root.ts"
import "./app.css"

export const links: Route.LinksFunction = () => [
  { rel: "preload", href: geist, as: "font", type: "font/woff2", crossOrigin: "anonymous" },
  { rel: "icon", href: "/favicon.svg", type: "image/svg+xml" },
  { rel: "apple-touch-icon", href: "/icon-180.png" },
  { rel: "manifest", href: "/site.webmanifest" },
]

export const middleware = [identify, guard, perform]

/**
 * Also makes the guard run for every URL: React Router runs middleware only for routes with a
 * loader.
 */
export async function loader({ context, request }: Route.LoaderArgs) {
  const { config, identity } = context.get(servicesContext)
  return {
    origin: config.origin,
    language: readLanguage(request),
    theme: readTheme(request),
    requestId: context.get(requestIdContext),
    isSignedIn: context.get(sessionContext) !== null,
    /** What Clerk's browser code starts from; null if Clerk is not the provider. */
    clerk: await identity.rootData({ request, context }),
  }
}

export const shouldRevalidate = keepOnNavigation

export function Layout({ children }: { children: ReactNode }) {
  const root = useRouteLoaderData<typeof loader>("root")
  const { theme, language: latest } = useReader(root)
  // A document keeps its initial language, because only those texts are loaded. Changing the
  // language loads another document.
  const [language] = useState(latest)
  const hydrates = useHydrates()
  return (
    <html lang={language} data-theme={theme === "system" ? undefined : theme} suppressHydrationWarning>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        {theme === "dark" ? null : (
          <meta
            name="theme-color"
            content="#fafbfc"
            media={theme === "light" ? undefined : "(prefers-color-scheme: light)"}
          />
        )}
        {theme === "light" ? null : (
          <meta
            name="theme-color"
            content="#0a1014"
            media={theme === "dark" ? undefined : "(prefers-color-scheme: dark)"}
          />
        )}
        {hydrates ? <TransitionFailures /> : null}
        <Meta />
        <Links />
      </head>
      <body>
        <div id="page">
          <I18nProvider i18n={i18nIn(language)}>{children}</I18nProvider>
        </div>
        {hydrates ? <ScrollRestoration /> : null}
        {hydrates ? <Scripts /> : null}
      </body>
    </html>
  )
}

export default function Root({ loaderData }: Route.ComponentProps) {
  return (
    <ClerkBoundary state={loaderData.clerk}>
      <Outlet />
    </ClerkBoundary>
  )
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const requestId = useRouteLoaderData<typeof loader>("root")?.requestId
  return <ErrorPage error={error} requestId={requestId} />
}

/**
 * Pages whose route has `handle = { static: true }`, and unknown URLs, work without JavaScript.
 * With `{ static: "unless Clerk" }`, only Clerk's browser code needs it.
 */
function useHydrates(): boolean {
  const matches = useMatches()
  const isClerk = Boolean(useRouteLoaderData<typeof loader>("root")?.clerk)
  const isStatic = matches.some(
    ({ handle }) =>
      typeof handle === "object" &&
      handle !== null &&
      "static" in handle &&
      (handle.static === true || !isClerk),
  )
  return matches.length > 1 && !isStatic
}
