import { Trans, useLingui } from "@lingui/react/macro"
import { Field } from "#app/ui/field.tsx"
import { SLUG_LIMIT, SPACE_NAME_LIMIT, type Membership } from "#server/spaces/contract.ts"
import { PictureField } from "#app/routes/dashboard/account/picture-field.tsx"
import { ActForm } from "./act-form.tsx"
import { pictureOf } from "#app/routes/dashboard/place/use-spaces.ts"

/** The space itself: the owner renames or deletes it, everybody else can leave. */
export function SpaceSettings({ space, isOwner }: { space: Membership; isOwner: boolean }) {
  const { t } = useLingui()
  if (!isOwner)
    return (
      <section className={sectionClass} aria-labelledby="leave">
        <h2 id="leave" className="font-medium">
          <Trans>Leave the space</Trans>
        </h2>
        <p className="mt-1 mb-4 text-sm text-muted">
          <Trans>What you added stays with the others. To come back, you need another invitation.</Trans>
        </p>
        <ActForm intent="leave" submit={t`Leave ${space.spaceName}`} />
      </section>
    )
  return (
    <>
      <section className={sectionClass} aria-labelledby="settings">
        <h2 id="settings" className="font-medium">
          <Trans>Name and address</Trans>
        </h2>
        <ActForm
          key={`${space.spaceName} ${space.spaceSlug}`}
          intent="change"
          submit={t`Save`}
          className="mt-4 flex flex-wrap items-end gap-3"
        >
          <Field
            className="min-w-0 flex-1 basis-52"
            label={t`Name`}
            name="name"
            required
            maxLength={SPACE_NAME_LIMIT}
            autoComplete="off"
            defaultValue={space.spaceName}
          />
          <Field
            className="min-w-0 flex-1 basis-52"
            label={t`Address, after /s/`}
            name="slug"
            required
            maxLength={SLUG_LIMIT}
            pattern="[a-z0-9]+(-[a-z0-9]+)*"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            defaultValue={space.spaceSlug}
          />
        </ActForm>
      </section>
      <section className={sectionClass} aria-labelledby="space-picture">
        <h2 id="space-picture" className="font-medium">
          <Trans>Picture</Trans>
        </h2>
        <p className="mt-1 text-sm text-muted">
          <Trans>All members see it, and nobody else.</Trans>
        </p>
        <div className="mt-4 flex flex-wrap items-center gap-3">
          <ActForm
            // Clears the chosen file once it was saved.
            key={space.spacePictureId}
            intent="save-picture"
            submit={t`Save picture`}
            hasFile
            className="contents"
          >
            <div className="w-full">
              <PictureField name={space.spaceName} image={pictureOf(space)} className="rounded-lg" />
            </div>
          </ActForm>
          {space.spacePictureId === null ? null : (
            <ActForm intent="remove-picture" submit={t`Remove picture`} />
          )}
        </div>
      </section>
      <section className={sectionClass} aria-labelledby="delete">
        <h2 id="delete" className="font-medium">
          <Trans>Delete the space</Trans>
        </h2>
        <p className="mt-1 text-sm text-muted">
          <Trans>It closes for everybody immediately. You can restore it for 30 days.</Trans>
        </p>
        <details className="mt-3 text-sm">
          <summary className="inline-flex min-h-9 cursor-pointer items-center rounded-md text-danger-ink touch:min-h-11">
            <Trans>Delete…</Trans>
          </summary>
          <ActForm intent="delete" submit={t`Delete ${space.spaceName}`} variant="danger" className="mt-2" />
        </details>
      </section>
    </>
  )
}

const sectionClass = "mt-5 rounded-lg border border-line bg-surface p-5 shadow-sm"
