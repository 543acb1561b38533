import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { FormNotice } from "#app/features/operations/plain-form.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { useLive } from "#live/react"
import { LinkButton } from "#app/ui/button.tsx"
import { Page, PageHead } from "#app/ui/page.tsx"
import { loadLive } from "#server/http/live.ts"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { requireScope } from "#server/http/scope.ts"
import { liveInvitations, liveMembers } from "#server/spaces/live.ts"
import { findMembership } from "#server/spaces/spaces.ts"
import { actOnSpace } from "./act-on-space.ts"
import { Invitations } from "./invitations.tsx"
import { MemberList } from "./member-list.tsx"
import { useSpace } from "#app/routes/dashboard/place/use-spaces.ts"
import type { Route } from "./+types/members.ts"

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return orErrorPage(async () => {
    const { spaceId, spaceName, role } = await findMembership(scope, params.slug)
    const [[members], [invitations] = [null]] = await Promise.all([
      loadLive(scope, [liveMembers, { spaceId }]),
      role === "owner" ? loadLive(scope, [liveInvitations, { spaceId }]) : undefined,
    ])
    const { signup } = scope.config.identity
    return { spaceName, members, invitations, signup, now: Date.now() }
  })
}

export const action = actOnSpace

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  { title: `${i18nOf(matches)._(msg`Members`)} · ${loaderData?.spaceName ?? ""} · Tideline` },
]

export default function Members({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const space = useSpace()
  const members = useLive(loaderData.members)
  const { invitations, signup, now } = loaderData
  if (!space) return null
  const isOwner = space.role === "owner"
  return (
    <Page narrow>
      <PageHead title={t`Members of ${space.spaceName}`}>
        <LinkButton to={href("/s/:slug/settings", { slug: space.spaceSlug })} variant="secondary">
          {isOwner ? t`Settings` : t`Leave…`}
        </LinkButton>
      </PageHead>
      <FormNotice />
      <p className="mt-3 text-sm text-muted">
        {isOwner ? (
          <Trans>Everyone here sees everything in the space. You decide who may change it.</Trans>
        ) : space.role === "editor" ? (
          <Trans>You can add to everything in the space and change it. Its owner manages the members.</Trans>
        ) : (
          <Trans>You can read everything in the space. Its owner manages the members.</Trans>
        )}
      </p>
      <MemberList spaceId={space.spaceId} members={members} isOwner={isOwner} />
      {isOwner && invitations ? (
        <Invitations spaceId={space.spaceId} list={invitations} now={now} signup={signup} />
      ) : null}
    </Page>
  )
}
