import { PasswordField } from "#app/ui/password-field.tsx"
import { PASSWORD_LENGTH } from "#server/accounts/contract.ts"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { Section } from "./section.tsx"

export function PasswordForm({ email, outcome }: { email: string; outcome: Outcome | undefined }) {
  return (
    <Section title="Password" about="A new one signs out every other browser." outcome={outcome}>
      <ChangeForm
        // A form that did its work is empty again.
        key={outcome?.done ? "changed" : "form"}
        intent="change-password"
        submit="Change the password"
        className="flex flex-col items-start gap-4"
      >
        {/* Password managers look for whose password it is. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <PasswordField
          className="w-full max-w-sm"
          label="Current password"
          name="current"
          autoComplete="current-password"
          required
          maxLength={PASSWORD_LENGTH.most}
          error={outcome?.errors?.["current"]}
        />
        <PasswordField
          className="w-full max-w-sm"
          label="New password"
          name="password"
          autoComplete="new-password"
          required
          minLength={PASSWORD_LENGTH.least}
          maxLength={PASSWORD_LENGTH.most}
          error={outcome?.errors?.["password"]}
          hint={`At least ${PASSWORD_LENGTH.least} characters.`}
        />
      </ChangeForm>
    </Section>
  )
}
