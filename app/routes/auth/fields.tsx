import { Field } from "#app/ui/field.tsx"
import { PasswordField } from "#app/ui/password-field.tsx"
import { PASSWORD_LENGTH } from "#server/accounts/contract.ts"

type Own<Base extends (props: never) => unknown> = Partial<Parameters<Base>[0]>

/** The address of an account. */
export function EmailField(props: Own<typeof Field>) {
  return (
    <Field
      label="E-mail address"
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

/** A password that is being chosen, under the rules for one. */
export function NewPasswordField(props: Own<typeof PasswordField>) {
  return (
    <PasswordField
      label="New password"
      name="password"
      autoComplete="new-password"
      required
      minLength={PASSWORD_LENGTH.least}
      maxLength={PASSWORD_LENGTH.most}
      hint={props.error ? undefined : `At least ${PASSWORD_LENGTH.least} characters.`}
      {...props}
    />
  )
}
