import { useLingui } from "@lingui/react/macro"
import { Field } from "#app/ui/field.tsx"
import { PasswordField } from "#app/ui/password-field.tsx"
import { PASSWORD_LENGTH } from "#server/accounts/contract.ts"

const { least, most } = PASSWORD_LENGTH

type Own<Base extends (props: never) => unknown> = Partial<Parameters<Base>[0]>

/** The email address of an account. */
export function EmailField(props: Own<typeof Field>) {
  const { t } = useLingui()
  return (
    <Field
      label={t`Email address`}
      name="email"
      type="email"
      autoComplete="username"
      inputMode="email"
      required
      maxLength={254}
      {...props}
    />
  )
}

/** The field for a new password, with the rules for one. */
export function NewPasswordField(props: Own<typeof PasswordField>) {
  const { t } = useLingui()
  return (
    <PasswordField
      label={t`New password`}
      name="password"
      autoComplete="new-password"
      required
      minLength={least}
      maxLength={most}
      hint={props.error ? undefined : t`At least ${least} characters.`}
      {...props}
    />
  )
}
