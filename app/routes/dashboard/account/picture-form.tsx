import { useLingui } from "@lingui/react/macro"
import type { UserRecord } from "#server/users/contract.ts"
import { PictureField } from "./picture-field.tsx"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"

/** Two forms, with their buttons side by side. */
export function PictureForm({ user, outcome }: { user: UserRecord; outcome: Outcome | undefined }) {
  const { t } = useLingui()
  return (
    <div className="mb-6 flex flex-wrap items-center gap-3 border-b border-line pb-6">
      <ChangeForm
        // Clears the chosen file once it was saved.
        key={user.imageUrl}
        intent="save-picture"
        submit={t`Save picture`}
        variant="secondary"
        hasFile
        className="contents"
      >
        <div className="w-full">
          <PictureField
            name={user.name ?? user.email}
            image={user.imageUrl}
            error={outcome?.errors?.["picture"]}
          />
        </div>
      </ChangeForm>
      {user.imageUrl ? (
        <ChangeForm intent="remove-picture" submit={t`Remove picture`} variant="secondary" />
      ) : null}
    </div>
  )
}
