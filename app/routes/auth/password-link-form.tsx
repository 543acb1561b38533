import { sayAll, useSentences } from "#app/language/sentences.ts"
import { Card } from "#app/ui/card.tsx"
import { AccountForm } from "./account-form.tsx"
import { NewPasswordField } from "./fields.tsx"

/**
 * Sets a password for the account whose emailed link carries `token`. `errors` is what the action
 * returned.
 */
export function PasswordLinkForm({
  token,
  submit,
  errors,
}: {
  token: string
  submit: string
  errors: Parameters<typeof sayAll<"token" | "password" | "form">>[0]
}) {
  const { form, token: link, password } = sayAll<"token" | "password" | "form">(errors, useSentences())
  return (
    <Card>
      <AccountForm submit={submit} problem={form ?? link}>
        <input type="hidden" name="token" value={token} />
        <NewPasswordField error={password} autoFocus />
      </AccountForm>
    </Card>
  )
}
