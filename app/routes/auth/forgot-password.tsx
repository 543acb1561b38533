import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import { data, href, redirect } from "react-router"
import { SIGN_IN } from "#app/features/identity/addresses.ts"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { sayAll, useSentences } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import { Card } from "#app/ui/card.tsx"
import { requireForms } from "#server/accounts/accounts.ts"
import { AskForReset } from "#server/accounts/contract.ts"
import { readForm } from "#server/http/form.ts"
import { servicesOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import { AccountForm } from "./account-form.tsx"
import { EmailField } from "./fields.tsx"
import { PageFoot, PageHead } from "./page-text.tsx"
import { textFor } from "./refusal-text.ts"
import type { Route } from "./+types/forgot-password.ts"

export function loader({ context, request }: Route.LoaderArgs) {
  requireForms(servicesOf(context))
  return { isSent: new URL(request.url).searchParams.has("sent") }
}

export async function action({ context, request }: Route.ActionArgs) {
  const forms = requireForms(servicesOf(context))
  const form = await readForm(request, AskForReset)
  if (!form.ok) return data({ errors: form.errors, values: form.values }, { status: form.status })

  const outcome = await forms.requestPasswordReset(visitOf({ request, context }), form.value)
  if (!outcome.ok) return data({ errors: textFor(outcome), values: form.value }, { status: outcome.status })
  return redirect(href("/sign-in/forgot-password") + "?sent", 303)
}

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Reset your password`,
    description: msg`Get an email with a link to choose a new password.`,
    path: href("/sign-in/forgot-password"),
  })

export default function ForgotPassword({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  const errors = sayAll<"email" | "form">(actionData?.errors, useSentences())
  return (
    <>
      <PageHead title={t`Reset your password`}>
        <Trans>Enter your email address and we'll send you a link to choose a new password.</Trans>
      </PageHead>
      {loaderData.isSent ? (
        <Alert tone="success" title={t`Check your inbox`}>
          <Trans>
            If an account with this address exists, we've sent it an email. The link is valid for an hour.
          </Trans>
        </Alert>
      ) : (
        <Card>
          <AccountForm submit={t`Send link`} problem={errors.form}>
            <EmailField
              defaultValue={actionData?.values["email"]}
              error={errors.email}
              autoFocus={Boolean(errors.email ?? errors.form)}
            />
          </AccountForm>
        </Card>
      )}
      <PageFoot question={t`Remembered your password?`} to={SIGN_IN} label={t`Sign in`} />
    </>
  )
}
