import { href, Outlet, useLocation } from "react-router"
import { HomeLink } from "#app/features/site/home-link.tsx"
import { nonceContext } from "#server/context.ts"
import { servicesOf } from "#server/http/scope.ts"
import { LanguageChoice } from "#app/ui/language-choice.tsx"
import { Water } from "#app/ui/water.tsx"
import enhance from "./enhance.js?url&no-inline"
import { SiteError } from "#app/features/site/site-error.tsx"
import type { Route } from "./+types/layout.ts"

/** With our own forms these pages ship no React, only one small script. */
export const handle = { credential: "none", static: "unless Clerk" }

export function loader({ context }: Route.LoaderArgs) {
  const isClerk = servicesOf(context).identity.kind === "clerk"
  return { nonce: isClerk ? null : context.get(nonceContext) }
}

/** The layout of sign-in and sign-up: a centred form, and a link to the home page. */
export default function AuthLayout({ loaderData }: Route.ComponentProps) {
  const { pathname, search } = useLocation()
  return (
    <div className="relative isolate flex min-h-dvh flex-col overflow-clip px-5 sm:px-8">
      <Water />
      <header className="py-5">
        <HomeLink />
      </header>
      <main className="mx-auto flex w-full max-w-sm flex-1 flex-col justify-center pt-4 pb-24 sm:pb-36">
        <Outlet />
      </main>
      <footer className="flex justify-center pb-5">
        <LanguageChoice action={href("/language")} from={pathname + search} />
      </footer>
      {loaderData.nonce ? <script type="module" async src={enhance} nonce={loaderData.nonce} /> : null}
    </div>
  )
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <SiteError error={error} />
}
