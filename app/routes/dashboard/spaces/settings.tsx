import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { FormNotice } from "#app/features/operations/plain-form.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { Page, PageHead } from "#app/ui/page.tsx"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { requireScope } from "#server/http/scope.ts"
import { findMembership } from "#server/spaces/spaces.ts"
import { actOnSpace } from "./act-on-space.ts"
import { SpaceSettings } from "./space-settings.tsx"
import { useSpace } from "#app/routes/dashboard/place/use-spaces.ts"
import type { Route } from "./+types/settings.ts"

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const { spaceName } = await orErrorPage(() => findMembership(scope, params.slug))
  return { spaceName }
}

export const action = actOnSpace

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  { title: `${i18nOf(matches)._(msg`Settings`)} · ${loaderData?.spaceName ?? ""} · Tideline` },
]

/** The space itself: its owner changes or deletes it, and everybody else can leave. */
export default function Settings() {
  const { t } = useLingui()
  const space = useSpace()
  if (!space) return null
  const members = href("/s/:slug/members", { slug: space.spaceSlug })
  return (
    <Page narrow>
      <PageHead title={t`Settings of ${space.spaceName}`} above={[{ to: members, label: t`Members` }]} />
      <FormNotice />
      <SpaceSettings space={space} isOwner={space.role === "owner"} />
    </Page>
  )
}
