import { useEffect } from "react"
import { Outlet, useLocation, useNavigate } from "react-router"
import { ProviderSession } from "#app/features/user-sync/provider-session.tsx"
import { useUserSync } from "#app/features/user-sync/use-user-sync.ts"
import { ToastProvider } from "#app/ui/toast.tsx"
import { requireScope } from "#server/http/scope.ts"
import { onboardingOf, type CreateOrUpdateUser } from "#server/users/contract.ts"
import { getProviderValues } from "#server/users/users.ts"
import { NavigationProgress } from "./navigation-progress.tsx"
import type { Route } from "./+types/layout.ts"

/** Around every page of the dashboard group: `provider` is null where the provider's browser code must be asked. */
export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const { user } = scope.viewer
  const provider = scope.identity.kind === "clerk" ? null : await getProviderValues(scope)
  return { user, onboarding: onboardingOf(user), provider }
}

export default function DashboardGroup({ loaderData }: Route.ComponentProps) {
  return (
    <ToastProvider>
      <NavigationProgress />
      <ProviderSession values={loaderData.provider}>
        {(provider) => <SyncedPage {...loaderData} provider={provider} />}
      </ProviderSession>
    </ToastProvider>
  )
}

function SyncedPage({
  user,
  onboarding,
  provider,
}: Omit<Route.ComponentProps["loaderData"], "provider"> & { provider: CreateOrUpdateUser }) {
  const { pathname } = useLocation()
  const navigate = useNavigate()
  useUserSync(user, provider)

  // The server redirects an opened page; this follows a status that changes under an open one.
  const mustOnboard = !onboarding.completed && pathname !== "/onboarding"
  useEffect(() => {
    if (mustOnboard) void navigate("/onboarding", { replace: true })
  }, [mustOnboard, navigate])

  return <Outlet />
}
