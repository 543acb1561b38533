import { msg } from "@lingui/core/macro"
import { useEffect } from "react"
import { href, redirect, useNavigate, useNavigation } from "react-router"
import { i18nOf } from "#app/language/i18n.ts"
import { LARGEST_PICTURE } from "#server/picture-contract.ts"
import { accountPageFunctions } from "#server/accounts/page-operations.ts"
import { fileList, liveUsage } from "#server/files/live.ts"
import { loadLive } from "#server/http/live.ts"
import { performOperations } from "#server/http/perform-operations.ts"
import { requireScope } from "#server/http/scope.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Membership } from "#server/spaces/contract.ts"
import { listSpaces } from "#server/spaces/spaces.ts"
import { onboardingOf } from "#server/users/contract.ts"
import { userFunctions } from "#server/users/operations.ts"
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
export const action = performOperations([...userFunctions, ...accountPageFunctions], {
  file: { field: "picture", limit: LARGEST_PICTURE, tooLarge: "picture-too-large" },
})

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
  const navigate = useNavigate()
  // Covers completion on another device; on this one, the action redirects.
  const { state } = useNavigation()
  const mustLeave = completed && state === "idle"
  const firstPage = firstPageOf(useSpaces())
  useEffect(() => {
    if (mustLeave) void navigate(firstPage, { replace: true })
  }, [mustLeave, firstPage, navigate])
  return (
    <OnboardingFrame step={step}>
      {step === "welcome" ? <WelcomeStep user={user} /> : null}
      {step === "profile" ? <ProfileStep user={user} canChoosePicture={canChoosePicture} /> : null}
      {step === "first-steps" ? <FirstSteps {...loaded} next={firstPage} /> : null}
    </OnboardingFrame>
  )
}
