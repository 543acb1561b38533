import { Trans, useLingui } from "@lingui/react/macro"
import { Field } from "#app/ui/field.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import type { SharedSpace } from "#server/spaces/hand-over.ts"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { CurrentPasswordField } from "./proof-fields.tsx"
import { Section } from "./section.tsx"

export function DeleteAccount({
  email,
  hasPassword,
  sharedSpaces,
  outcome,
}: {
  email: string
  /**
   * Whether this server knows the password. Otherwise the user types the email address, to prevent
   * accidents.
   */
  hasPassword: boolean
  /** The spaces with other members that they own. */
  sharedSpaces: readonly SharedSpace[]
  outcome: Outcome | undefined
}) {
  const { t } = useLingui()
  return (
    <Section
      title={t`Delete account`}
      about={t`This deletes your profile, conversations, files, links and keys immediately and permanently. Download anything you want to keep first.`}
      outcome={outcome}
    >
      {/* Collapsed by default. It expands without JavaScript, and stays open after an error. */}
      <details open={outcome !== undefined}>
        <summary className="w-fit cursor-pointer rounded-md text-sm font-medium text-danger-ink">
          <Trans>Delete my account</Trans>
        </summary>
        <p className="mt-3 max-w-prose text-sm text-muted">
          <Trans>
            What you added to spaces stays there for the others, with “Former member” instead of your name.
            Spaces that only you are in are deleted.
          </Trans>
        </p>
        <ChangeForm
          intent="delete-account"
          submit={t`Delete everything`}
          variant="danger"
          className="mt-4 flex flex-col items-start gap-4"
        >
          {sharedSpaces.map((space) => (
            <SpaceChoice key={space.spaceId} space={space} />
          ))}
          {hasPassword ? (
            <CurrentPasswordField name="confirmation" error={outcome?.errors?.["confirmation"]} />
          ) : (
            <Field
              className="w-full max-w-sm"
              label={t`Your email address`}
              name="confirmation"
              autoComplete="off"
              hint={t`Type ${email} to confirm.`}
              required
              error={outcome?.errors?.["confirmation"]}
            />
          )}
        </ChangeForm>
      </details>
    </Section>
  )
}

/** Who gets a space. The field has no default, so that nobody is given or loses one by accident. */
function SpaceChoice({ space: { spaceId, spaceName, members } }: { space: SharedSpace }) {
  const { t } = useLingui()
  return (
    <SelectField
      className="w-full max-w-sm"
      label={t`Your space ${spaceName}`}
      name={`space-${spaceId}`}
      required
    >
      <option value="">{t`Choose what happens to it`}</option>
      {members.map(({ userId, memberName, memberEmail }) => {
        const name = memberName ?? memberEmail
        return <option key={userId} value={userId}>{t`Hand over to ${name}`}</option>
      })}
      <option value="delete">{t`Delete it with everything in it`}</option>
    </SelectField>
  )
}
