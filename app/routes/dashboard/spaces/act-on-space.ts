import { msg } from "@lingui/core/macro"
import { href, redirect } from "react-router"
import { countEmail } from "#server/mail/email-limit.ts"
import { LARGEST_PICTURE } from "#server/picture-contract.ts"
import { requireScope } from "#server/http/scope.ts"
import { networkIn } from "#server/http/visit.ts"
import { SpaceAct } from "#server/spaces/form-contract.ts"
import { inviteToSpace, revokeInvitation } from "#server/spaces/invitations.ts"
import { removeMember, setRole, transferSpace } from "#server/spaces/members.ts"
import { removeSpacePicture, saveSpacePicture } from "#server/spaces/picture.ts"
import { changeSpace, findMembership, leaveSpace, trashSpace } from "#server/spaces/spaces.ts"
import { performAct, type Outcome } from "./perform-act.ts"
import type { Route } from "./+types/members.ts"

const PICTURE = { field: "picture", limit: LARGEST_PICTURE, tooLarge: "picture-too-large" } as const

/** Every form of the pages about a space itself: each of these pages takes them all. */
export async function actOnSpace({
  context,
  params,
  request,
}: Pick<Route.ActionArgs, "context" | "params" | "request">) {
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

async function act(
  scope: Parameters<typeof inviteToSpace>[0] & Parameters<typeof saveSpacePicture>[0],
  spaceId: string,
  form: SpaceAct,
): Promise<Omit<Outcome, "intent"> | Response> {
  switch (form.intent) {
    case "invite": {
      const { url, emailed } = await inviteToSpace(scope, spaceId, form)
      if (emailed) return { done: msg`Invited. The email is on its way.` }
      const done = msg`Invited, but not by email: too many invitations were sent to this address. Pass the link below on yourself.`
      return { done, url }
    }
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
      return { done: msg`Role saved.` }
    case "remove":
      await removeMember(scope, spaceId, form.userId)
      return {}
    case "transfer":
      await transferSpace(scope, spaceId, form.userId)
      return { done: msg`The space has a new owner.` }
    case "change": {
      const { slug } = await changeSpace(scope, spaceId, form)
      return redirect(href("/s/:slug/settings", { slug }))
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
