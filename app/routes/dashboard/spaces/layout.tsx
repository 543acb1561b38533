import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect } from "react"
import { data, href, isRouteErrorResponse, Outlet, useLocation, useNavigate } from "react-router"
import { LinkButton } from "#app/ui/button.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { Page } from "#app/routes/dashboard/page.tsx"
import { dataOf, isRefusal } from "#server/errors.ts"
import { requireScope } from "#server/http/scope.ts"
import { findMembership } from "#server/spaces/spaces.ts"
import { useSpaces } from "./use-spaces.ts"
import type { Route } from "./+types/layout.ts"

/** Everything in one space. Nobody but its members learns whether there is one. */
export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  try {
    return { membership: await findMembership(scope, params.slug) }
  } catch (error) {
    throw isRefusal(error) ? data(dataOf(error), { status: error.status }) : error
  }
}

export default function Space({ loaderData: { membership }, params }: Route.ComponentProps) {
  const current = useSpaces().find(({ spaceId }) => spaceId === membership.spaceId)
  useNewAddress(current?.spaceSlug ?? null, params.slug)
  if (!current) return <Lost name={membership.spaceName} />
  return <Outlet key={current.spaceId} />
}

/** The owner may change the address while the page is open. */
function useNewAddress(slug: string | null, shown: string) {
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  useEffect(() => {
    if (slug === null || slug === shown) return
    const rest = pathname.split("/").slice(3)
    void navigate([href("/s/:slug", { slug }), ...rest].join("/") + search, { replace: true })
  }, [slug, shown, pathname, search, navigate])
}

/** Replaces the page at the commit that ends the membership. */
function Lost({ name }: { name: string }) {
  const { t } = useLingui()
  return (
    <Page>
      <title>{`${name} · Tideline`}</title>
      <EmptyState
        icon="lock"
        level={1}
        title={t`You no longer have access to ${name}`}
        className="rounded-lg border border-line bg-surface shadow-sm sm:py-24"
        action={<LinkButton to={href("/dashboard")}>{t`Go to what is yours`}</LinkButton>}
      >
        <Trans>
          You left it, its owner removed you, or the space was deleted. What you added stays with the others.
        </Trans>
      </EmptyState>
    </Page>
  )
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const { t } = useLingui()
  if (!isRouteErrorResponse(error) || error.status !== 404) throw error
  return (
    <Page>
      <title>{t`Space not found · Tideline`}</title>
      <EmptyState
        icon="lock"
        level={1}
        title={t`Space not found`}
        className="rounded-lg border border-line bg-surface shadow-sm sm:py-24"
        action={<LinkButton to={href("/dashboard/spaces")}>{t`See your spaces`}</LinkButton>}
      >
        <Trans>There is no such space, or you are not a member of it. Ask its owner to invite you.</Trans>
      </EmptyState>
    </Page>
  )
}
