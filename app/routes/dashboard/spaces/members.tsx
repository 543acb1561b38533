import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { data, href, redirect } from "react-router"
import { i18nOf } from "#app/language/i18n.ts"
import { useSentences } from "#app/language/sentences.ts"
import { useLive } from "#app/realtime/use-live.tsx"
import { Alert } from "#app/ui/alert.tsx"
import { Page, PageHead } from "#app/routes/dashboard/page.tsx"
import { LARGEST_PICTURE } from "#server/accounts/contract.ts"
import { dataOf, isRefusal } from "#server/errors.ts"
import { loadLive } from "#server/http/live.ts"
import { requireScope } from "#server/http/scope.ts"
import { countEmail } from "#server/http/email-limit.ts"
import { networkIn } from "#server/http/visit.ts"
import { SpaceAct } from "#server/spaces/form-contract.ts"
import { inviteToSpace, revokeInvitation } from "#server/spaces/invitations.ts"
import { liveInvitations, liveMembers } from "#server/spaces/live.ts"
import { removeMember, setRole, transferSpace } from "#server/spaces/members.ts"
import { removeSpacePicture, saveSpacePicture } from "#server/spaces/picture.ts"
import { changeSpace, findMembership, leaveSpace, trashSpace } from "#server/spaces/spaces.ts"
import { Invitations } from "./invitations.tsx"
import { MemberList } from "./member-list.tsx"
import { performAct, type Outcome } from "./perform-act.ts"
import { SpaceSettings } from "./space-settings.tsx"
import { useSpace } from "./use-spaces.ts"
import type { Route } from "./+types/members.ts"

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  try {
    const { spaceId, spaceName, role } = await findMembership(scope, params.slug)
    const [[members], [invitations] = [null]] = await Promise.all([
      loadLive(scope, [liveMembers, { spaceId }]),
      role === "owner" ? loadLive(scope, [liveInvitations, { spaceId }]) : undefined,
    ])
    return { spaceName, members, invitations, now: Date.now() }
  } catch (error) {
    throw isRefusal(error) ? data(dataOf(error), { status: error.status }) : error
  }
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return performAct(
    request,
    SpaceAct,
    async (form) => {
      const { spaceId } = await findMembership(scope, params.slug)
      if (form.intent === "invite") countEmail(scope, networkIn(context))
      return act(scope, spaceId, form)
    },
    PICTURE,
  )
}

const PICTURE = { field: "picture", limit: LARGEST_PICTURE, tooLarge: "picture-too-large" } as const

async function act(
  scope: Parameters<typeof inviteToSpace>[0] & Parameters<typeof saveSpacePicture>[0],
  spaceId: string,
  form: SpaceAct,
): Promise<Omit<Outcome, "intent"> | Response> {
  switch (form.intent) {
    case "invite":
      await inviteToSpace(scope, spaceId, form)
      return { done: msg`Invited. The email is on its way.` }
    case "make-link": {
      const expiresAt = Date.now() + Number(form.days) * 24 * 60 * 60 * 1000
      const maxUses = form.uses === "any" ? null : Number(form.uses)
      const { url } = await inviteToSpace(scope, spaceId, { role: form.role, expiresAt, maxUses })
      return { url }
    }
    case "revoke":
      await revokeInvitation(scope, form.invitationId)
      return {}
    case "set-role":
      await setRole(scope, spaceId, form.userId, form)
      return {}
    case "remove":
      await removeMember(scope, spaceId, form.userId)
      return {}
    case "transfer":
      await transferSpace(scope, spaceId, form.userId)
      return { done: msg`The space has a new owner.` }
    case "change": {
      const { slug } = await changeSpace(scope, spaceId, form)
      return redirect(href("/s/:slug/members", { slug }))
    }
    case "save-picture":
      await saveSpacePicture(scope, spaceId, await form.picture.bytes())
      return { done: msg`Picture saved.` }
    case "remove-picture":
      await removeSpacePicture(scope, spaceId)
      return { done: msg`Picture removed.` }
    case "leave":
      await leaveSpace(scope, spaceId)
      return redirect(href("/dashboard/spaces"))
    case "delete":
      await trashSpace(scope, spaceId)
      return redirect(href("/dashboard/spaces"))
  }
}

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  { title: `${i18nOf(matches)._(msg`Members`)} · ${loaderData?.spaceName ?? ""} · Tideline` },
]

export default function Members({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  const say = useSentences()
  const space = useSpace()
  const members = useLive(loaderData.members)
  const { invitations, now } = loaderData
  if (!space) return null
  const isOwner = space.role === "owner"
  return (
    <Page narrow>
      <PageHead title={t`Members of ${space.spaceName}`} />
      <p className="mt-3 text-sm text-muted">
        {isOwner ? (
          <Trans>Everyone here sees everything in the space. You decide who may change it.</Trans>
        ) : space.role === "editor" ? (
          <Trans>You can add to everything in the space and change it. Its owner manages the members.</Trans>
        ) : (
          <Trans>You can read everything in the space. Its owner manages the members.</Trans>
        )}
      </p>
      <div role="status">
        {actionData?.done ? <Alert tone="success" title={say(actionData.done)} className="mt-5" /> : null}
      </div>
      {actionData?.problem ? <Alert tone="danger" title={say(actionData.problem)} className="mt-5" /> : null}
      <MemberList members={members} isOwner={isOwner} />
      {isOwner && invitations ? <Invitations list={invitations} now={now} outcome={actionData} /> : null}
      <SpaceSettings space={space} isOwner={isOwner} />
    </Page>
  )
}
