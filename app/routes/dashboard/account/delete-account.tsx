import { Trans, useLingui } from "@lingui/react/macro"
import { Field } from "#app/ui/field.tsx"
import { PasswordField } from "#app/ui/password-field.tsx"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { Section } from "./section.tsx"

export function DeleteAccount({
  email,
  hasPassword,
  outcome,
}: {
  email: string
  /**
   * Whether this server knows the password. Otherwise the user types the email address, to prevent
   * accidents.
   */
  hasPassword: boolean
  outcome: Outcome | undefined
}) {
  const { t } = useLingui()
  return (
    <Section
      title={t`Delete account`}
      about={t`This deletes your profile, conversations, files, links and keys immediately and permanently. Download anything you want to keep first.`}
      outcome={outcome}
    >
      {/* Collapsed by default. It expands without JavaScript, and stays open after an error. */}
      <details open={outcome !== undefined}>
        <summary className="w-fit cursor-pointer rounded-md text-sm font-medium text-danger-ink">
          <Trans>Delete my account</Trans>
        </summary>
        <ChangeForm
          intent="delete-account"
          submit={t`Delete everything`}
          variant="danger"
          className="mt-4 flex flex-col items-start gap-4"
        >
          {hasPassword ? (
            <PasswordField
              className="w-full max-w-sm"
              label={t`Your password`}
              name="confirmation"
              autoComplete="current-password"
              required
              error={outcome?.errors?.["confirmation"]}
            />
          ) : (
            <Field
              className="w-full max-w-sm"
              label={t`Your email address`}
              name="confirmation"
              autoComplete="off"
              hint={t`Type ${email} to confirm.`}
              required
              error={outcome?.errors?.["confirmation"]}
            />
          )}
        </ChangeForm>
      </details>
    </Section>
  )
}
