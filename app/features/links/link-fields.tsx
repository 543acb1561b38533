import { useLingui } from "@lingui/react/macro"
import { Field } from "#app/ui/field.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import { LINK_PASSWORD_LIMIT } from "#server/links/contract.ts"

const DAY = 24 * 60 * 60 * 1000

export function ExpiryField() {
  const { t } = useLingui()
  return (
    <SelectField label={t`Expires after`} name="days" defaultValue="7">
      <option value="1">{t`1 day`}</option>
      <option value="7">{t`7 days`}</option>
      <option value="30">{t`30 days`}</option>
      <option value="365">{t`1 year`}</option>
      <option value="">{t`Never`}</option>
    </SelectField>
  )
}

export function LinkPasswordField({ error }: { error: string | undefined }) {
  const { t } = useLingui()
  return (
    <Field
      label={t`Password`}
      name="password"
      type="password"
      autoComplete="new-password"
      maxLength={LINK_PASSWORD_LIMIT}
      placeholder={t`None`}
      hint={t`Send it separately from the link.`}
      error={error}
    />
  )
}

/** What the two fields say, as the API takes it. */
export function readLinkLimits(form: FormData) {
  const days = Number(form.get("days"))
  const password = form.get("password")
  return { expiresAt: days > 0 ? Date.now() + days * DAY : null, password: password === "" ? null : password }
}
