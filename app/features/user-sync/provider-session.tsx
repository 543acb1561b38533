import { useLingui } from "@lingui/react/macro"
import { lazy, Suspense, type ReactNode } from "react"
import { Logo } from "#app/ui/logo.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import type { CreateOrUpdateUser } from "#server/users/contract.ts"

/** Clerk's browser code is fetched only where Clerk is the provider. */
const ClerkSession = lazy(() => import("./clerk-session.tsx"))

/**
 * Gives `children` what the identity provider says of the signed-in person, and shows that it is
 * loading until then. `values` are those the server has; null where the provider's own browser code
 * must be asked.
 */
export function ProviderSession({
  values,
  children,
}: {
  values: CreateOrUpdateUser | null
  children: (provider: CreateOrUpdateUser) => ReactNode
}) {
  if (values) return children(values)
  return (
    <Suspense fallback={<SessionLoading />}>
      <ClerkSession loading={<SessionLoading />}>{children}</ClerkSession>
    </Suspense>
  )
}

function SessionLoading() {
  const { t } = useLingui()
  return (
    <div className="grid min-h-dvh place-items-center text-muted">
      <div className="flex flex-col items-center gap-5">
        <Logo />
        <Spinner label={t`Loading your session`} />
      </div>
    </div>
  )
}
