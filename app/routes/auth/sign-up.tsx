import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import { data, href, redirect, redirectDocument } from "react-router"
import { SIGN_IN, SIGN_UP } from "#app/features/identity/addresses.ts"
import { ClerkSignUp } from "#app/features/identity/clerk.tsx"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { sayAll, useSentences, type Sentence } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { Field } from "#app/ui/field.tsx"
import { requireForms } from "#server/accounts/accounts.ts"
import { findInvited } from "#server/accounts/invited.ts"
import { PASSWORD_LENGTH, SignUp } from "#server/accounts/contract.ts"
import { readForm } from "#server/http/form.ts"
import { safeTarget } from "#server/http/redirects.ts"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import { visitOf } from "#server/http/visit.ts"
import { AccountForm } from "./account-form.tsx"
import { EmailField, NewPasswordField } from "./fields.tsx"
import { PageFoot, PageHead } from "./page-text.tsx"
import { Or, Providers } from "./providers.tsx"
import { textFor } from "./refusal-text.ts"
import type { Route } from "./+types/sign-up.ts"

const AFTER_SIGN_UP = href("/onboarding")

const { least } = PASSWORD_LENGTH

export async function loader({ context, request }: Route.LoaderArgs) {
  const services = servicesOf(context)
  const { config, identity } = services
  const { searchParams: query, search } = new URL(request.url)
  const target = safeTarget(query.get("redirect_url"), config.origin, AFTER_SIGN_UP)
  if (sessionOf(context)) throw redirectDocument(target)
  const token = query.get("invitation")
  const invitation = token === null ? null : await findInvited(services, token)
  const { signup } = config.identity
  const isClosed = ["closed", "invited"].includes(signup) && invitation === null
  const isSpent = token !== null && invitation === null
  const isSent = query.has("sent")
  const providers = identity.singleSignOn?.providers ?? []
  const isByProvider = signup === "sso" && invitation === null
  return {
    provider: identity.kind,
    providers,
    isByProvider,
    target,
    search,
    isClosed,
    isByInvitation: signup === "invited",
    invitation,
    isSpent,
    isSent,
  }
}

export async function action({ context, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const forms = requireForms(services)
  const form = await readForm(request, SignUp)
  if (!form.ok) return data({ errors: form.errors, values: form.values }, { status: form.status })

  const query = new URL(request.url).searchParams
  const invitation = query.get("invitation") ?? undefined
  const outcome = await forms.signUp(visitOf({ request, context }), { ...form.value, invitation })
  if (!outcome.ok) {
    const { name, email } = form.value
    return data({ errors: textFor(outcome), values: { name, email } }, { status: outcome.status })
  }
  if (!outcome.isSignedIn) return redirect(`${SIGN_UP}?sent`, { status: 303, headers: outcome.headers })
  const target = safeTarget(query.get("redirect_url"), services.config.origin, AFTER_SIGN_UP)
  return redirectDocument(target, { status: 303, headers: outcome.headers })
}

/** Links of invitations open this page, with a secret in the URL. */
export const headers: Route.HeadersFunction = () => SECRET_ADDRESS

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Sign up`,
    description: msg`Create an account: chat, files, and every record live.`,
    path: SIGN_UP,
  })

export default function SignUpPage({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { provider, providers, target, search, isClosed, invitation, isSpent, isSent } = loaderData
  if (provider === "clerk" && !isClosed) return <ClerkSignUp target={target} />
  if (isSent) return <Sent />
  return (
    <>
      {isClosed ? (
        <Closed isSpent={isSpent} isByInvitation={loaderData.isByInvitation} />
      ) : (
        <>
          <PageHead title={t`Sign up`}>
            {loaderData.isByProvider ? (
              <Trans>
                Accounts are created by single sign-on here. Continue with the account you have there.
              </Trans>
            ) : (
              <Trans>A minute from now you're on a dashboard where everything is live.</Trans>
            )}
          </PageHead>
          <Providers providers={providers} target={target} />
          {loaderData.isByProvider ? null : (
            <>
              {providers.length > 0 ? <Or /> : null}
              <SignUpForm
                refused={actionData?.errors}
                typed={actionData?.values}
                invited={invitation?.email}
              />
            </>
          )}
        </>
      )}
      <PageFoot question={t`Already have an account?`} to={`${SIGN_IN}${search}`} label={t`Sign in`} />
    </>
  )
}

type FormErrors = Partial<Record<"name" | "email" | "password" | "form", Sentence>>

function SignUpForm({
  refused,
  typed,
  invited,
}: {
  refused: FormErrors | undefined
  typed: Record<string, string> | undefined
  /** The email address that was invited: the only one the invitation accepts. */
  invited: string | undefined
}) {
  const { t } = useLingui()
  const errors = sayAll(refused, useSentences())
  const fields = ["name", "email", "password"] as const
  const first = fields.find((field) => errors[field]) ?? (errors.form && "name")
  return (
    <Card>
      <AccountForm submit={t`Sign up`} problem={errors.form}>
        <Field
          label={t`Name`}
          name="name"
          autoComplete="name"
          required
          maxLength={100}
          defaultValue={typed?.["name"]}
          error={errors.name}
          autoFocus={first === "name"}
        />
        <EmailField
          defaultValue={invited ?? typed?.["email"]}
          readOnly={invited !== undefined}
          hint={invited === undefined ? undefined : t`Your invitation is for this email address.`}
          error={errors.email}
          autoFocus={first === "email"}
        />
        <NewPasswordField
          label={t`Password`}
          error={errors.password}
          autoFocus={first === "password"}
          hint={
            errors.password ? undefined : t`At least ${least} characters. A few unrelated words work well.`
          }
        />
      </AccountForm>
    </Card>
  )
}

/** Shown for an email address that has an account as well: only its owner is notified, by email. */
function Sent() {
  const { t } = useLingui()
  return (
    <>
      <PageHead title={t`Check your inbox`}>
        <Trans>We've emailed you a link. Open it in this browser to start using your account.</Trans>
      </PageHead>
      <Alert title={t`No email after a few minutes?`}>
        <Trans>Check your spam folder. Or sign in with your password and we'll send the link again.</Trans>
      </Alert>
      <PageFoot question={t`Opened the link?`} to={SIGN_IN} label={t`Sign in`} />
    </>
  )
}

function Closed({ isSpent, isByInvitation }: { isSpent: boolean; isByInvitation: boolean }) {
  const { t } = useLingui()
  const closed = isByInvitation ? t`Accounts are created by invitation here` : t`Sign-up is closed here`
  return (
    <>
      <PageHead title={isSpent ? t`This invitation has been used or has expired` : closed}>
        {isSpent
          ? t`If you already created your account, sign in. Otherwise join the waitlist again.`
          : isByInvitation
            ? t`Open the link in your invitation. Without one, join the waitlist, and the people who run this site can invite you.`
            : t`Join the waitlist, and the people who run this site can let you know when it opens.`}
      </PageHead>
      <LinkButton to={href("/waitlist")} reloadDocument>
        <Trans>Join the waitlist</Trans>
      </LinkButton>
    </>
  )
}
