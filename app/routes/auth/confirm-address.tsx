import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { data, href, redirectDocument } from "react-router"
import { SIGN_IN } from "#app/features/identity/addresses.ts"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { LinkButton } from "#app/ui/button.tsx"
import { requireForms } from "#server/accounts/accounts.ts"
import { ConfirmAddress } from "#server/accounts/contract.ts"
import { readForm } from "#server/http/form.ts"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import { visitOf } from "#server/http/visit.ts"
import { PageHead } from "./page-text.tsx"
import { PasswordLinkForm } from "./password-link-form.tsx"
import { textFor } from "./refusal-text.ts"
import type { Route } from "./+types/confirm-address.ts"

/**
 * Opening the link confirms the email address in a browser that is signed in to the account. In any
 * other browser it changes nothing.
 */
export async function loader({ context, request }: Route.LoaderArgs) {
  const forms = requireForms(servicesOf(context))
  const token = new URL(request.url).searchParams.get("token") ?? ""
  const outcome = await forms.confirmAddress(visitOf({ request, context }), { token })
  if (!outcome.ok) return data({ invitation: null }, { status: outcome.status })
  const { state, email } = outcome
  if (state === "password-needed") return data({ invitation: { token, email } })
  const isSignedIn = state === "confirmed" || sessionOf(context) !== null
  throw redirectDocument(isSignedIn ? href("/dashboard") : `${SIGN_IN}?confirmed`, {
    headers: outcome.headers,
  })
}

export async function action({ context, request }: Route.ActionArgs) {
  const forms = requireForms(servicesOf(context))
  const form = await readForm(request, ConfirmAddress)
  if (!form.ok) return data({ errors: form.errors }, { status: form.status })

  const outcome = await forms.confirmAddress(visitOf({ request, context }), form.value)
  if (!outcome.ok) return data({ errors: textFor(outcome) }, { status: outcome.status })
  return redirectDocument(outcome.state === "confirmed" ? href("/dashboard") : `${SIGN_IN}?confirmed`, {
    status: 303,
    headers: outcome.headers,
  })
}

/** The URL and the form hold the link's secret. */
export const headers: Route.HeadersFunction = () => SECRET_ADDRESS

export const meta: Route.MetaFunction = ({ matches }) => [
  ...pageMeta(matches, {
    title: msg`Confirm your email address`,
    description: msg`Confirm the email address of your account.`,
    path: href("/sign-up/confirm"),
  }),
  { name: "robots", content: "noindex" },
]

export default function ConfirmAddressPage({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { invitation } = loaderData
  if (!invitation) return <LinkSpent />
  const { token, email } = invitation
  return (
    <>
      <PageHead title={t`Confirm your email address`}>
        <Trans>
          This browser isn't signed in to the account of <strong className="font-medium">{email}</strong>.
          Choose a password to confirm the email address and sign in. Anyone who was signed in to the account
          before is signed out, and its old password and API keys stop working.
        </Trans>
      </PageHead>
      <PasswordLinkForm token={token} submit={t`Confirm and sign in`} errors={actionData?.errors} />
      <p className="mt-6 text-center text-sm text-muted">
        <Trans>
          To keep your password, open the link in the browser you signed up with. If you didn't sign up, close
          this page.
        </Trans>
      </p>
    </>
  )
}

function LinkSpent() {
  const { t } = useLingui()
  return (
    <>
      <PageHead title={t`This link is incomplete or has expired`}>
        <Trans>
          If your email address is already confirmed, sign in. Otherwise reset your password: the link in that
          email also confirms your address.
        </Trans>
      </PageHead>
      <div className="flex flex-wrap gap-3">
        <LinkButton to={SIGN_IN}>
          <Trans>Sign in</Trans>
        </LinkButton>
        <LinkButton to={href("/sign-in/forgot-password")} variant="secondary">
          <Trans>Reset your password</Trans>
        </LinkButton>
      </div>
    </>
  )
}
