import { useLingui } from "@lingui/react/macro"
import { useEffect, useRef } from "react"
import { href, Outlet, useLocation, useNavigate, useRevalidator } from "react-router"
import { keepOnNavigation } from "#app/features/navigation/keep-on-navigation.ts"
import { ProviderSession } from "#app/features/user-sync/provider-session.tsx"
import { useUserSync } from "#app/features/user-sync/use-user-sync.ts"
import { LiveProvider } from "#live/react"
import { defer, whenRendered } from "#app/ui/defer.tsx"
import { importAgain } from "#app/ui/import-again.ts"
import { ToastProvider } from "#app/ui/toast.tsx"
import { requireScope } from "#server/http/scope.ts"
import type { Loaded } from "#live/contract"
import { onboardingOf, type CreateOrUpdateUser, type UserRecord } from "#server/users/contract.ts"
import { UploadKeeper } from "./files/upload/use-uploads.ts"
import { NavigationProgress } from "./navigation-progress.tsx"
import { loadViewer } from "./viewer/load-viewer.ts"
import { useRecord } from "./viewer/use-record.ts"
import type { Route } from "./+types/layout.ts"

const MissedDrops = defer(() => import("./missed-drops-part.tsx"), whenRendered)((parts) => parts.MissedDrops)

/** Wraps every page of the dashboard group. */
export async function loader({ context }: Route.LoaderArgs) {
  return loadViewer(await requireScope(context))
}

export const shouldRevalidate = keepOnNavigation

export default function DashboardGroup({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  return (
    <LiveProvider key={loaderData.userId} userId={loaderData.userId} load={importAgain}>
      <meta name="description" content={t`Your conversations, files and account, live on every device.`} />
      <ToastProvider>
        <NavigationProgress />
        <UploadKeeper userId={loaderData.userId} />
        <MissedDrops />
        <ProviderSession values={loaderData.provider}>
          {(provider) => <SyncedPage record={loaderData.record} provider={provider} />}
        </ProviderSession>
      </ToastProvider>
    </LiveProvider>
  )
}

function SyncedPage({ record, provider }: { record: Loaded<UserRecord>; provider: CreateOrUpdateUser }) {
  const user = useRecord(record)
  const onboarding = onboardingOf(user)
  const { pathname } = useLocation()
  const navigate = useNavigate()
  useUserSync(user, provider)
  useReloadWithPlan(user.plan)

  // The server redirects when a page is opened; this covers a status that changes while one is
  // open.
  const mustOnboard = !onboarding.completed && pathname !== href("/onboarding")
  useEffect(() => {
    if (mustOnboard) void navigate(href("/onboarding"), { replace: true })
  }, [mustOnboard, navigate])

  return <Outlet />
}

/**
 * The server decides what a plan allows, so open pages load their data again when the plan changes.
 */
function useReloadWithPlan(plan: UserRecord["plan"]) {
  const { revalidate } = useRevalidator()
  const shown = useRef(plan)
  useEffect(() => {
    if (shown.current === plan) return
    shown.current = plan
    void revalidate()
  }, [plan, revalidate])
}
