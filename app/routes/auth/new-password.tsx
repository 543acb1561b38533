import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import { data, href, redirect } from "react-router"
import { SIGN_IN } from "#app/features/identity/addresses.ts"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { LinkButton } from "#app/ui/button.tsx"
import { requireForms } from "#server/accounts/accounts.ts"
import { ChooseNewPassword } from "#server/accounts/contract.ts"
import { readForm } from "#server/http/form.ts"
import { servicesOf } from "#server/http/scope.ts"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import { visitOf } from "#server/http/visit.ts"
import { PageHead } from "./page-text.tsx"
import { PasswordLinkForm } from "./password-link-form.tsx"
import { textFor } from "./refusal-text.ts"
import type { Route } from "./+types/new-password.ts"

export function loader({ context, request }: Route.LoaderArgs) {
  requireForms(servicesOf(context))
  return { token: new URL(request.url).searchParams.get("token") }
}

export async function action({ context, request }: Route.ActionArgs) {
  const forms = requireForms(servicesOf(context))
  const form = await readForm(request, ChooseNewPassword)
  if (!form.ok) return data({ errors: form.errors }, { status: form.status })

  const outcome = await forms.resetPassword(visitOf({ request, context }), form.value)
  if (!outcome.ok) return data({ errors: textFor(outcome) }, { status: outcome.status })
  return redirect(`${SIGN_IN}?reset`, { status: 303, headers: outcome.headers })
}

/** The URL and the form hold the link's secret. */
export const headers: Route.HeadersFunction = () => SECRET_ADDRESS

export const meta: Route.MetaFunction = ({ matches }) => [
  ...pageMeta(matches, {
    title: msg`Choose a new password`,
    description: msg`Choose a new password for your account.`,
    path: href("/sign-in/new-password"),
  }),
  { name: "robots", content: "noindex" },
]

export default function NewPassword({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  if (!loaderData.token) return <LinkIncomplete />
  return (
    <>
      <PageHead title={t`Choose a new password`}>
        <Trans>Saving it signs you out everywhere else.</Trans>
      </PageHead>
      <PasswordLinkForm token={loaderData.token} submit={t`Save password`} errors={actionData?.errors} />
    </>
  )
}

function LinkIncomplete() {
  const { t } = useLingui()
  return (
    <>
      <PageHead title={t`This link is incomplete`}>
        <Trans>Open the link in the email again, or request a new one.</Trans>
      </PageHead>
      <LinkButton to={href("/sign-in/forgot-password")}>
        <Trans>Request a new link</Trans>
      </LinkButton>
    </>
  )
}
