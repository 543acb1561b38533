import { useLingui } from "@lingui/react/macro"
import { lazy, Suspense, type ReactNode } from "react"
import { Logo } from "#app/ui/logo.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import type { CreateOrUpdateUser } from "#server/users/contract.ts"

/** Clerk's browser code is loaded only if Clerk is the provider. */
const ClerkSession = lazy(() => import("./clerk-session.tsx"))

/**
 * Passes the identity provider's values for the signed-in user to `children`, and shows a spinner
 * until they are known. `values` come from the server; null if the provider's own browser code must
 * be asked.
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
