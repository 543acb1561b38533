import type { UserRecord } from "#server/users/contract.ts"
import { PictureField } from "../picture-field.tsx"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"

export function PictureForm({ user, outcome }: { user: UserRecord; outcome: Outcome | undefined }) {
  return (
    <div className="mb-6 flex flex-col items-start gap-3 border-b border-line pb-6">
      <ChangeForm
        // A picture that was saved is chosen no longer.
        key={user.imageUrl}
        intent="save-picture"
        submit="Save the picture"
        variant="secondary"
        hasFile
        className="flex w-full flex-col items-start gap-3"
      >
        <PictureField
          name={user.name ?? user.email}
          image={user.imageUrl}
          error={outcome?.errors?.["picture"]}
        />
      </ChangeForm>
      {user.imageUrl ? (
        <ChangeForm intent="remove-picture" submit="Remove the picture" variant="secondary" />
      ) : null}
    </div>
  )
}
