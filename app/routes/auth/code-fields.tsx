import { useLingui } from "@lingui/react/macro"
import { Checkbox } from "#app/ui/checkbox.tsx"
import { Field } from "#app/ui/field.tsx"

/** The field for a code of the authenticator app, or for a recovery code. */
export function CodeField({
  recovery = false,
  error,
  hint,
}: {
  recovery?: boolean
  error?: string | undefined
  hint?: string
}) {
  const { t } = useLingui()
  return (
    <Field
      label={recovery ? t`Recovery code` : t`Code`}
      name="code"
      inputMode={recovery ? "text" : "numeric"}
      autoComplete={recovery ? "off" : "one-time-code"}
      autoCapitalize="none"
      spellCheck={false}
      required
      autoFocus
      maxLength={40}
      error={error}
      hint={hint}
    />
  )
}

export function TrustBrowser() {
  const { t } = useLingui()
  return (
    <Checkbox
      name="trust"
      label={t`Trust this browser for 30 days`}
      hint={t`It won't ask for a code. Choose this on your own devices only.`}
    />
  )
}
