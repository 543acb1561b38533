import { msg } from "@lingui/core/macro"
import { useEffect } from "react"
import { data, href, redirect, useActionData, useNavigate, useNavigation } from "react-router"
import * as v from "valibot"
import { i18nOf } from "#app/language/i18n.ts"
import { LARGEST_PICTURE, Picture } from "#server/picture-contract.ts"
import { removePicture, savePicture } from "#server/accounts/picture.ts"
import { dataOf, isRefusal, type Refusal } from "#server/errors.ts"
import { fileList, liveUsage } from "#server/files/live.ts"
import { readForm } from "#server/http/form.ts"
import { loadLive } from "#server/http/live.ts"
import { requireScope } from "#server/http/scope.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Membership } from "#server/spaces/contract.ts"
import { listSpaces } from "#server/spaces/spaces.ts"
import { onboardingOf, SaveProfile } from "#server/users/contract.ts"
import { completeOnboarding, finishOnboardingStep, reopenOnboardingStep } from "#server/users/onboarding.ts"
import { saveProfile } from "#server/users/users.ts"
import { OnboardingFrame } from "./onboarding-frame.tsx"
import { ProfileStep, WelcomeStep } from "./onboarding-steps.tsx"
import { FirstSteps } from "./first-steps.tsx"
import { useSpaces } from "./place/use-spaces.ts"
import { useUser } from "./viewer/use-user.ts"
import type { Route } from "./+types/onboarding.ts"

export function meta({ loaderData, matches }: Route.MetaArgs) {
  return [{ title: `${i18nOf(matches)._(titles[loaderData?.step ?? "welcome"])} · Tideline` }]
}

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const { completed, step } = onboardingOf(scope.viewer.user)
  if (completed) throw redirect(await findFirstPage(scope))
  const [files, usage] = await loadLive(scope, [fileList, {}], [liveUsage, {}])
  return {
    step,
    canChoosePicture: scope.identity.pictures !== undefined,
    files,
    usage,
    limits: limitsOf(scope.config, scope.viewer.session),
  }
}

/** Each form names its step, so that a form of an outdated tab changes nothing. */
const OnboardingForm = v.variant("intent", [
  v.object({ intent: v.literal("finish-welcome") }),
  v.object({
    intent: v.literal("finish-profile"),
    ...SaveProfile.entries,
    picture: v.optional(Picture),
  }),
  v.object({ intent: v.literal("remove-picture") }),
  v.object({ intent: v.literal("reopen-welcome") }),
  v.object({ intent: v.literal("reopen-profile") }),
  v.object({ intent: v.literal("complete") }),
  v.object({ intent: v.literal("complete-with-files") }),
  v.object({ intent: v.literal("complete-with-question"), question: v.pipe(v.string(), v.maxLength(2000)) }),
])

export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  const form = await readForm(request, OnboardingForm, PICTURE)
  if (!form.ok) return data({ errors: form.errors, values: form.values }, { status: form.status })
  switch (form.value.intent) {
    case "finish-welcome":
      await finishOnboardingStep(scope, "welcome")
      // Nobody who signed up with a name is asked for it again. Back from the next step leads there.
      if (scope.viewer.user.name?.trim()) await finishOnboardingStep(scope, "profile")
      return redirect(href("/onboarding"))
    case "finish-profile": {
      const { name, picture } = form.value
      await saveProfile(scope, { name })
      const refusal = picture && (await savePicture(scope, picture).catch(refusalOf))
      if (refusal) return data({ errors: { picture: dataOf(refusal) }, values: { name } }, refusal.status)
      await finishOnboardingStep(scope, "profile")
      return redirect(href("/onboarding"))
    }
    case "remove-picture":
      await removePicture(scope)
      return redirect(href("/onboarding"))
    case "reopen-welcome":
      await reopenOnboardingStep(scope, "welcome")
      return redirect(href("/onboarding"))
    case "reopen-profile":
      await reopenOnboardingStep(scope, "profile")
      return redirect(href("/onboarding"))
    case "complete":
      await completeOnboarding(scope)
      return redirect(await findFirstPage(scope))
    case "complete-with-files":
      await completeOnboarding(scope)
      return redirect(href("/dashboard/files"))
    case "complete-with-question":
      await completeOnboarding(scope)
      return redirect(`${href("/dashboard/chat")}?${new URLSearchParams({ question: form.value.question })}`)
  }
}

/** Somebody who came by an invitation begins in its space. */
async function findFirstPage(scope: Parameters<typeof listSpaces>[0]): Promise<string> {
  const spaces = await listSpaces(scope)
  return firstPageOf(spaces.map(({ slug }) => ({ spaceSlug: slug })))
}

/** In the order of joining. */
function firstPageOf(spaces: readonly Pick<Membership, "spaceSlug">[]): string {
  const joined = spaces.at(-1)
  return joined ? href("/s/:slug", { slug: joined.spaceSlug }) : href("/dashboard")
}

const PICTURE = { field: "picture", limit: LARGEST_PICTURE, tooLarge: "picture-too-large" } as const

function refusalOf(error: unknown): Refusal {
  if (!isRefusal(error)) throw error
  return error
}

const titles = {
  welcome: msg`Welcome`,
  profile: msg`Your name`,
  "first-steps": msg`First steps`,
  done: msg`All set`,
}

/** One URL for all steps: the record says which step is shown, on every device. */
export default function Onboarding({ loaderData: { canChoosePicture, ...loaded } }: Route.ComponentProps) {
  const user = useUser()
  const { completed, step } = onboardingOf(user)
  const refused = useActionData<typeof action>()
  const navigate = useNavigate()
  // Covers completion on another device; on this one, the action redirects.
  const { state } = useNavigation()
  const mustLeave = completed && state === "idle"
  // The same page as the action's, because the record can arrive before its response.
  const firstPage = firstPageOf(useSpaces())
  useEffect(() => {
    if (mustLeave) void navigate(firstPage, { replace: true })
  }, [mustLeave, firstPage, navigate])
  return (
    <OnboardingFrame step={step}>
      {step === "welcome" ? <WelcomeStep user={user} /> : null}
      {step === "profile" ? (
        <ProfileStep user={user} canChoosePicture={canChoosePicture} refused={refused} />
      ) : null}
      {step === "first-steps" ? <FirstSteps {...loaded} /> : null}
    </OnboardingFrame>
  )
}
