import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { data, href, redirectDocument } from "react-router"
import * as v from "valibot"
import { SIGN_IN, SIGN_UP } from "#app/features/identity/addresses.ts"
import { ClerkSignIn } from "#app/features/identity/clerk.tsx"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { sayAll, useSentences } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import { Card } from "#app/ui/card.tsx"
import { PasswordField } from "#app/ui/password-field.tsx"
import { TextLink } from "#app/ui/text-link.tsx"
import { requireForms } from "#server/accounts/accounts.ts"
import { SignIn, SignInRefusal } from "#server/accounts/contract.ts"
import { readForm } from "#server/http/form.ts"
import { nonceContext } from "#server/context.ts"
import { isRoutedContext } from "#server/http/credentials.ts"
import { codePath, safeTarget } from "#server/http/redirects.ts"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import { AccountForm } from "./account-form.tsx"
import { EmailField } from "./fields.tsx"
import { PageFoot, PageHead } from "./page-text.tsx"
import { PasskeyForm } from "./passkey-form.tsx"
import { Or, Providers } from "./providers.tsx"
import { SIGN_IN_TEXTS, textFor } from "./refusal-text.ts"
import type { Route } from "./+types/sign-in.ts"

export async function loader({ context, request }: Route.LoaderArgs) {
  const { config, identity } = servicesOf(context)
  const { searchParams: query, search } = new URL(request.url)
  const target = safeTarget(query.get("redirect_url"), config.origin)
  if (sessionOf(context)) throw redirectDocument(target)
  // The guard redirects every unknown URL here; nobody should have to sign in to find out that it is one.
  if (!context.get(isRoutedContext)(target)) throw data(null, { status: 404 })
  return {
    provider: identity.kind,
    providers: identity.singleSignOn?.providers ?? [],
    target,
    search,
    /** Null where there are no passkeys. */
    passkeyNonce: identity.forms?.enterWithPasskey ? context.get(nonceContext) : null,
    isReset: query.has("reset"),
    isConfirmed: query.has("confirmed"),
    isSuspended: (await identity.isSuspended?.(request)) ?? false,
    problem: v.parse(SignInRefusal, query.get("problem")),
    signedOut: identity.singleSignOn?.providers.find(({ name }) => name === query.get("signed_out")) ?? null,
  }
}

export async function action({ context, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const forms = requireForms(services)
  const form = await readForm(request, SignIn)
  if (!form.ok) return data({ errors: form.errors, values: form.values }, { status: form.status })

  const outcome = await forms.signIn(visitOf({ request, context }), form.value)
  if (!outcome.ok) {
    return data({ errors: textFor(outcome), values: { email: form.value.email } }, { status: outcome.status })
  }
  const wanted = new URL(request.url).searchParams.get("redirect_url")
  const target = safeTarget(wanted, services.config.origin)
  return redirectDocument(outcome.needsCode ? codePath(target) : target, {
    status: 303,
    headers: outcome.headers,
  })
}

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, { title: msg`Sign in`, description: msg`Sign in to Tideline.`, path: SIGN_IN })

export default function SignInPage({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  const say = useSentences()
  const { provider, providers, target, search, isReset, isConfirmed, isSuspended, passkeyNonce } = loaderData
  if (provider === "clerk") return <ClerkSignIn target={target} />

  const errors = sayAll<"email" | "password" | "form">(actionData?.errors, say)
  return (
    <>
      <PageHead title={t`Sign in`}>
        <Trans>Welcome back.</Trans>
      </PageHead>
      {loaderData.problem && !actionData ? <Refused problem={loaderData.problem} /> : null}
      {loaderData.signedOut ? <SignedOut {...loaderData.signedOut} /> : null}
      {isReset ? (
        <Alert tone="success" title={t`Your password has been changed`} className="mb-4">
          <Trans>Sign in with your new password.</Trans>
        </Alert>
      ) : null}
      {isConfirmed ? (
        <Alert tone="success" title={t`Your email address is confirmed`} className="mb-4">
          <Trans>Sign in to continue.</Trans>
        </Alert>
      ) : null}
      {isSuspended && !actionData ? (
        <Alert tone="danger" title={t`This account is suspended`} className="mb-4">
          <Trans>
            The administrator of this server signed you out. Your data is kept: ask them to allow your account
            again.
          </Trans>
        </Alert>
      ) : null}
      <Providers providers={providers} target={target} />
      {providers.length > 0 ? <Or /> : null}
      <Card>
        <AccountForm submit={t`Sign in`} problem={errors.form}>
          <EmailField
            defaultValue={actionData?.values["email"]}
            error={errors.email}
            autoComplete={passkeyNonce ? "username webauthn" : "username"}
            autoFocus={Boolean(errors.email ?? errors.form)}
          />
          <PasswordField
            label={t`Password`}
            name="password"
            autoComplete="current-password"
            required
            maxLength={128}
            error={errors.password}
            autoFocus={!errors.email && Boolean(errors.password)}
            hint={
              <TextLink to={href("/sign-in/forgot-password")}>
                <Trans>Forgot your password?</Trans>
              </TextLink>
            }
          />
        </AccountForm>
      </Card>
      {passkeyNonce ? <PasskeyForm target={target} nonce={passkeyNonce} /> : null}
      <PageFoot question={t`No account yet?`} to={`${SIGN_UP}${search}`} label={t`Sign up`} />
    </>
  )
}

function Refused({ problem }: { problem: SignInRefusal }) {
  const say = useSentences()
  const { title, advice } = SIGN_IN_TEXTS[problem]
  return (
    <Alert tone="danger" title={say(title)} className="mb-4">
      {say(advice)}
    </Alert>
  )
}

/**
 * Signing out here leaves the provider's own session, which signs the user in again with one click.
 */
function SignedOut({ name, label }: { name: string; label: string }) {
  const { t } = useLingui()
  return (
    <Alert tone="success" title={t`You're signed out`} className="mb-4">
      <Trans>
        You may still be signed in at {label}.{" "}
        <a
          href={href("/sign-out/with/:provider", { provider: name })}
          className="underline underline-offset-3"
        >
          Sign out there too
        </a>
      </Trans>
    </Alert>
  )
}
