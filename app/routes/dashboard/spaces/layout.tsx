import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useMemo } from "react"
import { href, isRouteErrorResponse, Outlet, useLocation, useNavigate } from "react-router"
import { useLive } from "#live/react"
import { LinkButton } from "#app/ui/button.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { Page } from "#app/ui/page.tsx"
import { loadLive } from "#server/http/live.ts"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { requireScope } from "#server/http/scope.ts"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"
import type { Loaded } from "#live/contract"
import type { Member, Membership } from "#server/spaces/contract.ts"
import { liveMembers } from "#server/spaces/live.ts"
import { findMembership } from "#server/spaces/spaces.ts"
import { PresentProvider } from "./present.tsx"
import { addressesIn, PlaceContext, type Place } from "#app/routes/dashboard/place/use-place.ts"
import { useSpaces } from "#app/routes/dashboard/place/use-spaces.ts"
import type { Route } from "./+types/layout.ts"

/** Everything in one space. Nobody but its members learns whether there is one. */
export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return orErrorPage(async () => {
    const membership = await findMembership(scope, params.slug)
    const [members] = await loadLive(scope, [liveMembers, { spaceId: membership.spaceId }])
    return { membership, members }
  })
}

export default function Space({ loaderData: { membership, members }, params }: Route.ComponentProps) {
  const current = useSpaces().find(({ spaceId }) => spaceId === membership.spaceId)
  useNewAddress(current?.spaceSlug ?? null, params.slug)
  useEffect(() => void opened.set(params.slug, membership.spaceName), [params.slug, membership.spaceName])
  if (!current) return <Lost name={membership.spaceName} />
  return <Inside key={current.spaceId} space={current} members={members} />
}

function Inside({ space, members: loaded }: { space: Membership; members: Loaded<Member> }) {
  const { t } = useLingui()
  const members = useLive(loaded)
  const own = useUser()._id
  const { spaceId, spaceName, spaceSlug, role } = space
  const place = useMemo<Place>(() => {
    const names = new Map(
      members.map(({ userId, memberName, memberEmail }) => [userId, memberName ?? memberEmail]),
    )
    return {
      spaceId,
      spaceName,
      mayEdit: role !== "reader",
      isPaid: role === "owner",
      nameOf: (userId) => (userId === own ? t`You` : (names.get(userId) ?? t`Former member`)),
      members,
      addresses: addressesIn(spaceSlug),
    }
  }, [spaceId, spaceName, spaceSlug, role, members, own, t])
  return (
    <PlaceContext value={place}>
      <PresentProvider spaceId={spaceId}>
        <Outlet />
      </PresentProvider>
    </PlaceContext>
  )
}

/** The names of the spaces that this document has shown, by their addresses. */
const opened = new Map<string, string>()

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
        action={<LinkButton to={href("/dashboard")}>{t`Go to your dashboard`}</LinkButton>}
      >
        <Trans>
          You left it, its owner removed you, or the space was deleted. What you added stays with the others.
        </Trans>
      </EmptyState>
    </Page>
  )
}

export function ErrorBoundary({ error, params: { slug } }: Route.ErrorBoundaryProps) {
  const { t } = useLingui()
  if (!isRouteErrorResponse(error) || error.status !== 404) throw error
  const lost = slug === undefined ? undefined : opened.get(slug)
  if (lost !== undefined) return <Lost name={lost} />
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
