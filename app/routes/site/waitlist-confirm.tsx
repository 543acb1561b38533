import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import { data, href, redirect } from "react-router"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { Alert } from "#app/ui/alert.tsx"
import { Button, LinkButton } from "#app/ui/button.tsx"
import { readLanguage } from "#server/transport/language.ts"
import { servicesOf } from "#server/http/scope.ts"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import { confirmPlace, isConfirmation } from "#server/waitlist/waitlist.ts"
import { WaitlistFrame } from "./waitlist-frame.tsx"
import type { Route } from "./+types/waitlist-confirm.ts"

export const handle = { credential: "none", static: true }

/** Opening the link changes nothing, because mail scanners open every link. */
export function loader({ context, request }: Route.LoaderArgs) {
  const { searchParams } = new URL(request.url)
  if (searchParams.has("confirmed")) return data({ state: "confirmed" as const })
  if (isConfirmation(servicesOf(context), searchParams.get("token") ?? ""))
    return data({ state: "asked" as const })
  return data({ state: "spent" as const }, { status: 400 })
}

export async function action({ context, request }: Route.ActionArgs) {
  const token = new URL(request.url).searchParams.get("token") ?? ""
  const isOurs = await confirmPlace(servicesOf(context), token, readLanguage(request))
  return isOurs ? redirect(href("/waitlist/confirm") + "?confirmed") : data(null, { status: 400 })
}

/** The URL holds the link's secret: it is stored in no cache, and sent to no other site. */
export const headers: Route.HeadersFunction = () => SECRET_ADDRESS

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Confirm your place`,
    description: msg`Confirm that you want to hear when there is room.`,
    path: href("/waitlist/confirm"),
  })

export default function ConfirmPlace({ loaderData: { state } }: Route.ComponentProps) {
  const { t } = useLingui()
  if (state === "confirmed") {
    return (
      <WaitlistFrame title={t`You are on the list`}>
        <Alert tone="success" title={t`You're confirmed`}>
          <Trans>The people who run this site will let you know when there is room.</Trans>
        </Alert>
      </WaitlistFrame>
    )
  }
  if (state === "spent") {
    return (
      <WaitlistFrame
        title={t`This link has expired`}
        lead={t`Or part of it is missing. Enter your email address again and we'll send a new one.`}
      >
        <LinkButton to={href("/waitlist")} reloadDocument>
          <Trans>Back to the waitlist</Trans>
        </LinkButton>
      </WaitlistFrame>
    )
  }
  return (
    <WaitlistFrame
      title={t`Confirm your place`}
      lead={t`Press the button to join this site's waitlist. If you didn't ask for this, close the page.`}
    >
      <form method="post">
        <Button type="submit">
          <Trans>Confirm my place</Trans>
        </Button>
      </form>
    </WaitlistFrame>
  )
}
