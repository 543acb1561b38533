import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { OperationForm } from "#app/features/operations/operation-form.tsx"
import { Field } from "#app/ui/field.tsx"
import { SLUG_LIMIT, SPACE_NAME_LIMIT, type Membership } from "#server/spaces/contract.ts"
import { spaceOperations } from "#server/spaces/operations-contract.ts"
import { spacePageOperations } from "#server/spaces/page-operations-contract.ts"
import { PictureField } from "#app/routes/dashboard/account/picture-field.tsx"
import { pictureOf } from "#app/routes/dashboard/place/use-spaces.ts"

/** The space itself: the owner renames or deletes it, everybody else can leave. */
export function SpaceSettings({ space, isOwner }: { space: Membership; isOwner: boolean }) {
  const { t } = useLingui()
  const { spaceId } = space
  const list = href("/dashboard/spaces")
  if (!isOwner)
    return (
      <section className={sectionClass} aria-labelledby="leave">
        <h2 id="leave" className="font-medium">
          <Trans>Leave the space</Trans>
        </h2>
        <p className="mt-1 mb-4 text-sm text-muted">
          <Trans>What you added stays with the others. To come back, you need another invitation.</Trans>
        </p>
        <OperationForm
          of={spaceOperations.leave}
          values={{ spaceId }}
          submit={t`Leave ${space.spaceName}`}
          next={list}
          className="flex flex-col items-start gap-4"
        />
      </section>
    )
  return (
    <>
      <section className={sectionClass} aria-labelledby="settings">
        <h2 id="settings" className="font-medium">
          <Trans>Name and address</Trans>
        </h2>
        <OperationForm
          key={`${space.spaceName} ${space.spaceSlug}`}
          of={spaceOperations.change}
          values={{ spaceId }}
          submit={t`Save`}
          next="/s/:slug/settings"
          className="mt-4 flex flex-wrap items-end gap-3"
        >
          {(field) => (
            <>
              <Field
                {...field("name", space.spaceName)}
                className="min-w-0 flex-1 basis-52"
                label={t`Name`}
                required
                maxLength={SPACE_NAME_LIMIT}
                autoComplete="off"
              />
              <Field
                {...field("slug", space.spaceSlug)}
                className="min-w-0 flex-1 basis-52"
                label={t`Web address, after /s/`}
                required
                maxLength={SLUG_LIMIT}
                pattern="[a-z0-9]+(-[a-z0-9]+)*"
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
              />
            </>
          )}
        </OperationForm>
      </section>
      <section className={sectionClass} aria-labelledby="space-picture">
        <h2 id="space-picture" className="font-medium">
          <Trans>Picture</Trans>
        </h2>
        <p className="mt-1 text-sm text-muted">
          <Trans>All members see it, and nobody else.</Trans>
        </p>
        <div className="mt-4 flex flex-wrap items-center gap-3">
          <OperationForm
            of={spacePageOperations.savePicture}
            values={{ spaceId }}
            submit={t`Save picture`}
            done={t`Picture saved.`}
            hasFile
            className="contents"
          >
            <div className="w-full">
              <PictureField
                // Clears the chosen file once it was saved.
                key={space.spacePictureId}
                name={space.spaceName}
                image={pictureOf(space)}
                className="rounded-lg"
              />
            </div>
          </OperationForm>
          {space.spacePictureId === null ? null : (
            <OperationForm
              of={spaceOperations.removePicture}
              values={{ spaceId }}
              submit={t`Remove picture`}
              done={t`Picture removed.`}
            />
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
          <OperationForm
            of={spaceOperations.remove}
            values={{ spaceId }}
            submit={t`Delete ${space.spaceName}`}
            variant="danger"
            next={list}
            className="mt-2 flex flex-col items-start gap-4"
          />
        </details>
      </section>
    </>
  )
}

const sectionClass = "mt-5 rounded-lg border border-line bg-surface p-5 shadow-sm"
