import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { data, href, redirect, redirectDocument } from "react-router"
import * as v from "valibot"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { sayAll, useSentences } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { PasswordField } from "#app/ui/password-field.tsx"
import { requireForms } from "#server/accounts/accounts.ts"
import { accountHasPassword } from "#server/accounts/own-account.ts"
import { AuthenticatorUri, SecondFactorStep } from "#server/accounts/contract.ts"
import {
  beginSecondFactor,
  confirmSecondFactor,
  describeSetup,
  findNextStep,
} from "#server/accounts/second-factor.ts"
import { nonceContext } from "#server/context.ts"
import { readForm } from "#server/http/form.ts"
import { safeTarget } from "#server/http/redirects.ts"
import { requireScope } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import { AccountForm } from "./account-form.tsx"
import { AuthenticatorCode } from "./authenticator-code.tsx"
import { CodeField, TrustBrowser } from "./code-fields.tsx"
import { OtherKindOfCode } from "./other-kind-of-code.tsx"
import { PageHead } from "./page-text.tsx"
import { PasskeyForm } from "./passkey-form.tsx"
import { RecoveryCodes } from "./recovery-codes.tsx"
import { SignOutInstead } from "./sign-out-instead.tsx"
import { textFor } from "./refusal-text.ts"
import type { Route } from "./+types/second-factor.ts"

/**
 * The password is enough here: this page asks for the second factor, which every other page needs.
 */
export const handle = { credential: "password" }

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": "private, no-store" })

export async function loader({ context, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const step = await findNextStep(scope)
  if (step === null) throw redirect(href("/dashboard/account"))
  const query = new URL(request.url).searchParams
  const target = safeTarget(query.get("redirect_url"), scope.config.origin)
  const hasPassword = await accountHasPassword(scope)
  const nonce = context.get(nonceContext)
  const { email } = scope.viewer.user
  return { step, target, nonce, hasPassword, email, isRecovery: query.has("recovery") }
}

export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  const form = await readForm(request, SecondFactorStep)
  if (!form.ok) return data({ errors: form.errors, setup: setupIn(form.values) }, { status: form.status })

  const visit = visitOf({ request, context })
  switch (form.value.step) {
    case "begin": {
      const outcome = await beginSecondFactor(scope, visit, form.value.password ?? null)
      if (outcome.ok) return data({ setup: outcome.setup }, { headers: outcome.headers })
      return data({ errors: wordsForPassword(outcome) }, { status: outcome.status })
    }
    case "confirm": {
      const { code, uri } = form.value
      const outcome = await confirmSecondFactor(scope, visit, code)
      if (outcome.ok) return data({ recoveryCodes: outcome.recoveryCodes }, { headers: outcome.headers })
      return data({ errors: textFor(outcome), setup: describeSetup(uri) }, { status: outcome.status })
    }
    case "show": {
      const { code, trust } = form.value
      const outcome = await requireForms(scope).enterCode(visit, { code, trust: trust === "on" })
      if (!outcome.ok) return data({ errors: textFor(outcome) }, { status: outcome.status })
      const wanted = new URL(request.url).searchParams.get("redirect_url")
      const target = safeTarget(wanted, scope.config.origin)
      return redirectDocument(target, { status: 303, headers: outcome.headers })
    }
  }
}

/** Keeps the set-up going after a wrong code. */
function setupIn({ uri }: Record<string, string>) {
  return v.is(AuthenticatorUri, uri) ? describeSetup(uri) : undefined
}

function wordsForPassword(refused: Parameters<typeof textFor>[0]) {
  return refused.problem === "wrong-credentials"
    ? { password: msg`That is not your password.` }
    : textFor(refused)
}

export const meta: Route.MetaFunction = ({ matches }) => [
  ...pageMeta(matches, {
    title: msg`Two-factor authentication`,
    description: msg`Protect your account with a code from an authenticator app.`,
    path: href("/second-factor"),
  }),
  { name: "robots", content: "noindex" },
]

export default function SecondFactorPage({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { step, target, nonce, hasPassword, email, isRecovery } = loaderData
  const { errors: refused, setup, recoveryCodes } = { ...EMPTY, ...actionData }
  const errors = sayAll<"password" | "code" | "form">(refused, useSentences())
  if (recoveryCodes) return <RecoveryCodes codes={recoveryCodes} target={target} />
  if (setup && step === "set-up")
    return (
      <>
        <PageHead title={t`Scan the QR code`}>
          <Trans>
            Scan it with an authenticator app, such as the one in your password manager or on your phone. Then
            enter the code the app shows.
          </Trans>
        </PageHead>
        <Card>
          <AccountForm submit={t`Turn on`} problem={errors.form}>
            <input type="hidden" name="step" value="confirm" />
            <input type="hidden" name="uri" value={setup.uri} />
            <AuthenticatorCode setup={setup} />
            <CodeField error={errors.code} />
          </AccountForm>
        </Card>
      </>
    )
  if (step === "done")
    return (
      <>
        <PageHead title={t`Two-factor authentication`} />
        <Alert tone="success" title={t`Two-factor authentication is on`} className="mb-6">
          <Trans>You can turn it off or create new recovery codes on the account page.</Trans>
        </Alert>
        <LinkButton to={target} reloadDocument>
          <Trans>Continue</Trans>
        </LinkButton>
      </>
    )
  if (step === "show-passkey")
    return (
      <>
        <PageHead title={t`Use your passkey`}>
          <Trans>This page needs more than a password. Sign in with a passkey of your account.</Trans>
        </PageHead>
        <PasskeyForm target={target} nonce={nonce} />
        <p className="mt-4 text-center text-sm text-muted">
          <Trans>If there is no button, this browser cannot use passkeys, or its JavaScript is off.</Trans>
        </p>
        <SignOutInstead />
      </>
    )
  if (step === "show")
    return (
      <>
        <PageHead title={isRecovery ? t`Enter a recovery code` : t`Enter your code`}>
          <Trans>This account uses two-factor authentication.</Trans>
        </PageHead>
        <Card>
          <AccountForm submit={t`Continue`} problem={errors.form}>
            <input type="hidden" name="step" value="show" />
            <CodeField recovery={isRecovery} error={errors.code} />
            <TrustBrowser />
          </AccountForm>
        </Card>
        <OtherKindOfCode path={href("/second-factor")} target={target} isRecovery={isRecovery} />
        <SignOutInstead />
      </>
    )
  return (
    <>
      <PageHead title={t`Set up two-factor authentication`}>
        <Trans>
          Once this is on, signing in also takes a code from an app on your phone or in your password manager.
          A stolen password is then not enough to get in.
        </Trans>{" "}
        {hasPassword ? <Trans>Enter your password to begin.</Trans> : null}
      </PageHead>
      <Card>
        <AccountForm submit={t`Continue`} problem={errors.form}>
          <input type="hidden" name="step" value="begin" />
          {hasPassword ? (
            <>
              {/* Tells password managers whose password it is. */}
              <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
              <PasswordField
                label={t`Password`}
                name="password"
                autoComplete="current-password"
                required
                maxLength={128}
                error={errors.password}
                autoFocus
              />
            </>
          ) : null}
        </AccountForm>
      </Card>
      <SignOutInstead />
    </>
  )
}

const EMPTY = { errors: undefined, setup: undefined, recoveryCodes: undefined }
