import { useLingui } from "@lingui/react/macro"
import { Field } from "#app/ui/field.tsx"
import type { UserRecord } from "#server/users/contract.ts"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { PictureForm } from "./picture-form.tsx"
import { Section } from "./section.tsx"

export function ProfileForm({ user, outcome }: { user: UserRecord; outcome: Outcome | undefined }) {
  const { t } = useLingui()
  return (
    <Section title={t`Profile`} outcome={outcome}>
      <div className="mb-5 min-w-0">
        <p dir="auto" className="truncate font-medium">
          {user.name ?? user.email}
        </p>
        <p className="truncate text-sm text-muted">{user.email}</p>
      </div>
      <PictureForm user={user} outcome={outcome} />
      <ChangeForm intent="save-profile" submit={t`Save`} className="flex flex-wrap items-end gap-3">
        <Field
          key={user.name}
          className="min-w-60 flex-1"
          label={t`Name`}
          name="name"
          autoComplete="name"
          required
          maxLength={100}
          defaultValue={outcome?.values?.["name"] ?? user.name ?? ""}
          error={outcome?.errors?.["name"]}
        />
      </ChangeForm>
    </Section>
  )
}
