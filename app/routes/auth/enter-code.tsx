import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { data, href, redirectDocument } from "react-router"
import { SIGN_IN } from "#app/features/identity/addresses.ts"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { sayAll, useSentences } from "#app/language/sentences.ts"
import { Card } from "#app/ui/card.tsx"
import { requireForms } from "#server/accounts/accounts.ts"
import { EnterCode } from "#server/accounts/contract.ts"
import { readForm } from "#server/http/form.ts"
import { safeTarget, signInPath } from "#server/http/redirects.ts"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import { AccountForm } from "./account-form.tsx"
import { CodeField, TrustBrowser } from "./code-fields.tsx"
import { PageFoot, PageHead } from "./page-text.tsx"
import { OtherKindOfCode } from "./other-kind-of-code.tsx"
import { textFor } from "./refusal-text.ts"
import type { Route } from "./+types/enter-code.ts"

export function loader({ context, request }: Route.LoaderArgs) {
  const services = servicesOf(context)
  requireForms(services)
  const query = new URL(request.url).searchParams
  const { origin } = services.config
  const target = safeTarget(query.get("redirect_url"), origin)
  if (sessionOf(context)) throw redirectDocument(target)
  const again = query.has("redirect_url") ? signInPath(new URL(target, origin)) : SIGN_IN
  return { target, again, isRecovery: query.has("recovery") }
}

export async function action({ context, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const forms = requireForms(services)
  const form = await readForm(request, EnterCode)
  if (!form.ok) return data({ errors: form.errors }, { status: form.status })

  const { code, trust } = form.value
  const outcome = await forms.enterCode(visitOf({ request, context }), { code, trust: trust === "on" })
  if (!outcome.ok) return data({ errors: textFor(outcome) }, { status: outcome.status })
  const wanted = new URL(request.url).searchParams.get("redirect_url")
  return redirectDocument(safeTarget(wanted, services.config.origin), {
    status: 303,
    headers: outcome.headers,
  })
}

export const meta: Route.MetaFunction = ({ matches }) => [
  ...pageMeta(matches, {
    title: msg`Enter your code`,
    description: msg`The second step of signing in.`,
    path: href("/sign-in/code"),
  }),
  { name: "robots", content: "noindex" },
]

export default function EnterCodePage({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { target, again, isRecovery } = loaderData
  const errors = sayAll<"code" | "trust" | "form">(actionData?.errors, useSentences())
  return (
    <>
      <PageHead title={isRecovery ? t`Enter a recovery code` : t`Enter your code`}>
        {isRecovery ? (
          <Trans>Each of the codes you saved when you set this up works once.</Trans>
        ) : (
          <Trans>Your authenticator app shows a six-digit code for this account.</Trans>
        )}
      </PageHead>
      <Card>
        <AccountForm submit={t`Sign in`} problem={errors.form}>
          <CodeField recovery={isRecovery} error={errors.code} />
          <TrustBrowser />
        </AccountForm>
      </Card>
      <OtherKindOfCode path={href("/sign-in/code")} target={target} isRecovery={isRecovery} />
      <PageFoot question={t`Not you, or no code at hand?`} to={again} label={t`Start again`} />
    </>
  )
}
