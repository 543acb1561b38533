import { Trans, useLingui } from "@lingui/react/macro"
import { Field } from "#app/ui/field.tsx"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { CodeField, CurrentPasswordField } from "./proof-fields.tsx"
import { Section } from "./section.tsx"

interface Pending {
  next: string
  waitsForPrevious: boolean
  waitsForNext: boolean
}

/** Changes the email address, with what protects the account. */
export function AddressForm({
  email,
  hasPassword,
  hasFactor,
  pending,
  outcome,
}: {
  email: string
  hasPassword: boolean
  hasFactor: boolean
  pending: Pending | null
  outcome: Outcome | undefined
}) {
  const { t } = useLingui()
  const about = hasPassword
    ? t`Your address is ${email}. A new one takes effect once it has been confirmed from both addresses.`
    : t`Your address is ${email}. You sign in by single sign-on, so it comes from your sign-in provider and can't be changed here.`
  return (
    <Section title={t`Email address`} about={about} outcome={outcome}>
      {pending ? <Waiting pending={pending} email={email} /> : null}
      {hasPassword ? (
        <details open={outcome?.errors !== undefined && outcome.intent === "change-address"}>
          <summary className="w-fit cursor-pointer rounded-md text-sm font-medium">
            <Trans>Change email address</Trans>
          </summary>
          <ChangeForm
            intent="change-address"
            submit={t`Email the links`}
            className="mt-4 mb-2 flex flex-col items-start gap-4"
          >
            <Field
              className="w-full max-w-sm"
              label={t`New email address`}
              name="email"
              type="email"
              autoComplete="email"
              inputMode="email"
              required
              maxLength={254}
              defaultValue={outcome?.errors ? outcome.values?.["email"] : undefined}
              error={outcome?.errors?.["email"]}
            />
            <CurrentPasswordField error={outcome?.errors?.["current"]} />
            {hasFactor ? <CodeField error={outcome?.errors?.["code"]} /> : null}
          </ChangeForm>
        </details>
      ) : null}
    </Section>
  )
}

function Waiting({ pending, email }: { pending: Pending; email: string }) {
  const { t } = useLingui()
  const { next, waitsForPrevious, waitsForNext } = pending
  const missing = [waitsForPrevious ? email : null, waitsForNext ? next : null].filter(
    (each) => each !== null,
  )
  const addresses = missing.join(", ")
  return (
    <div className="mb-5 flex flex-wrap items-center gap-x-4 gap-y-3">
      <p className="min-w-60 flex-1 text-sm wrap-anywhere">
        <Trans>
          Changing to <strong className="font-medium">{next}</strong>. Still to be confirmed with the link
          that we emailed to: {addresses}.
        </Trans>
      </p>
      <ChangeForm intent="stop-address-change" submit={t`Stop the change`} variant="secondary" />
    </div>
  )
}
