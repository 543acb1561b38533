import { useLingui } from "@lingui/react/macro"
import { Field } from "#app/ui/field.tsx"
import { PasswordField } from "#app/ui/password-field.tsx"
import { PASSWORD_LENGTH } from "#server/accounts/contract.ts"

/** The present password, which somebody who finds an unlocked browser does not know. */
export function CurrentPasswordField(props: Partial<Parameters<typeof PasswordField>[0]>) {
  const { t } = useLingui()
  return (
    <PasswordField
      className="w-full max-w-sm"
      label={t`Your password`}
      name="current"
      autoComplete="current-password"
      required
      maxLength={PASSWORD_LENGTH.most}
      {...props}
    />
  )
}

/** A code of an authenticator app or a recovery code, for accounts that have a second factor. */
export function CodeField({ error }: { error: string | undefined }) {
  const { t } = useLingui()
  return (
    <Field
      className="w-full max-w-sm"
      label={t`Code`}
      name="code"
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      required
      maxLength={40}
      hint={t`From your authenticator app, or a recovery code.`}
      error={error}
    />
  )
}
