import { useLingui } from "@lingui/react/macro"
import { PasswordField } from "#app/ui/password-field.tsx"
import { PASSWORD_LENGTH } from "#server/accounts/contract.ts"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { CurrentPasswordField } from "./proof-fields.tsx"
import { Section } from "./section.tsx"

const { least, most } = PASSWORD_LENGTH

export function PasswordForm({ email, outcome }: { email: string; outcome: Outcome | undefined }) {
  const { t } = useLingui()
  return (
    <Section
      title={t`Password`}
      about={t`Changing it signs you out of every other browser.`}
      outcome={outcome}
    >
      <ChangeForm
        // Resets the form after a successful change.
        key={outcome?.done ? "changed" : "form"}
        intent="change-password"
        submit={t`Change password`}
        className="flex flex-col items-start gap-4"
      >
        {/* Tells password managers whose password it is. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <CurrentPasswordField label={t`Current password`} error={outcome?.errors?.["current"]} />
        <PasswordField
          className="w-full max-w-sm"
          label={t`New password`}
          name="password"
          autoComplete="new-password"
          required
          minLength={least}
          maxLength={most}
          error={outcome?.errors?.["password"]}
          hint={t`At least ${least} characters.`}
        />
      </ChangeForm>
    </Section>
  )
}
