import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link } from "react-router"
import { OperationForm } from "#app/features/operations/operation-form.tsx"
import { FormNotice } from "#app/features/operations/plain-form.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { useLive } from "#live/react"
import { Avatar } from "#app/ui/avatar.tsx"
import { Badge } from "#app/ui/badge.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { Field } from "#app/ui/field.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { Page, PageHead } from "#app/ui/page.tsx"
import { loadLive } from "#server/http/live.ts"
import { performOperations } from "#server/http/perform-operations.ts"
import { requireScope } from "#server/http/scope.ts"
import { SPACE_NAME_LIMIT, type Membership } from "#server/spaces/contract.ts"
import { liveReceivedInvitations, liveTrashedSpaces } from "#server/spaces/live.ts"
import { spaceOperations } from "#server/spaces/operations-contract.ts"
import { spaceFunctions } from "#server/spaces/operations.ts"
import { useRoleNames } from "./role-names.ts"
import { pictureOf, useSpaces } from "#app/routes/dashboard/place/use-spaces.ts"
import type { Route } from "./+types/page.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Spaces · Tideline`) },
]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const person = await scope.identity.getUser(scope.viewer.session.userId)
  const [trash] = await loadLive(scope, [liveTrashedSpaces, {}])
  const [received] = person?.emailVerified ? await loadLive(scope, [liveReceivedInvitations, {}]) : [null]
  return { received, trash, now: Date.now(), mayCreate: scope.config.hasSpaces }
}

export const action = performOperations(spaceFunctions)

export default function Spaces({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const spaces = useSpaces()
  const trash = useLive(loaderData.trash)
  return (
    <Page narrow>
      <PageHead title={t`Spaces`} />
      <FormNotice />
      <p className="mt-3 max-w-2xl text-sm text-muted">
        <Trans>
          In a space, several people share conversations and files, and all of them see every change
          immediately. What is personal stays yours alone.
        </Trans>
      </p>
      {loaderData.received ? (
        <Received received={loaderData.received} now={loaderData.now} />
      ) : (
        <p className="mt-5 text-sm text-muted">
          <Trans>
            Invitations that are sent to your email address appear here once you have confirmed it, with the
            link in the email that we sent you.
          </Trans>
        </p>
      )}
      {spaces.length > 0 ? (
        <ul className={listClass}>
          {spaces.map((space) => (
            <SpaceRow key={space._id} space={space} />
          ))}
        </ul>
      ) : (
        <EmptyState
          icon="layers"
          title={t`You are in no space yet`}
          className="mt-5 rounded-lg border border-line bg-surface"
        >
          {loaderData.mayCreate ? (
            <Trans>Create one below and invite people, or ask somebody to invite you.</Trans>
          ) : (
            <Trans>This installation offers no spaces.</Trans>
          )}
        </EmptyState>
      )}
      {loaderData.mayCreate ? (
        <OperationForm
          of={spaceOperations.create}
          submit={t`Create space`}
          variant="primary"
          next="/s/:slug"
          className="mt-5 flex flex-wrap items-end gap-3 rounded-lg border border-line bg-surface p-5 shadow-sm"
        >
          {(field) => (
            <Field
              {...field("name")}
              className="min-w-0 flex-1 basis-64"
              label={t`Name of the new space`}
              placeholder={t`Expedition`}
              autoComplete="off"
              required
              maxLength={SPACE_NAME_LIMIT}
            />
          )}
        </OperationForm>
      ) : null}
      {trash.length > 0 ? <Trash spaces={trash} now={loaderData.now} /> : null}
    </Page>
  )
}

const listClass = "mt-5 divide-y divide-line rounded-lg border border-line bg-surface shadow-sm"

function SpaceRow({ space }: { space: Membership }) {
  const roles = useRoleNames()
  return (
    <li>
      <Link
        to={href("/s/:slug", { slug: space.spaceSlug })}
        className="flex min-h-15 items-center gap-3 px-4 py-2 transition-colors hover:bg-hover sm:px-5"
      >
        <Avatar name={space.spaceName} image={pictureOf(space)} className="rounded-md" />
        <span className="min-w-0 flex-1 truncate text-sm font-medium">{space.spaceName}</span>
        <Badge>{roles[space.role]}</Badge>
      </Link>
    </li>
  )
}

interface ReceivedProps {
  received: NonNullable<Route.ComponentProps["loaderData"]["received"]>
  now: number
}

function Received({ received, now }: ReceivedProps) {
  const { t } = useLingui()
  const roles = useRoleNames()
  const invitations = useLive(received)
  if (invitations.length === 0) return null
  return (
    <section aria-labelledby="received" className="mt-6">
      <h2 id="received" className="font-medium">
        <Trans>Invitations for you</Trans>
      </h2>
      <ul className={listClass}>
        {invitations.map(({ _id, _creationTime, spaceName, role }) => {
          const about = { values: { invitationId: _id }, whom: spaceName, size: "sm" } as const
          return (
            <li key={_id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 sm:px-5">
              <div className="min-w-0 flex-1 basis-48">
                <p className="truncate text-sm font-medium">{spaceName}</p>
                <p className="text-sm text-muted">
                  {roles[role]}, <RelativeTime at={_creationTime} now={now} />
                </p>
              </div>
              <div className="flex gap-2">
                <OperationForm {...about} of={spaceOperations.decline} submit={t`Decline`} />
                <OperationForm
                  {...about}
                  of={spaceOperations.accept}
                  submit={t`Join`}
                  variant="primary"
                  next="/s/:slug"
                />
              </div>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function Trash({
  spaces,
  now,
}: {
  spaces: readonly (Membership & { trashedAt: number | null })[]
  now: number
}) {
  const { t } = useLingui()
  return (
    <section aria-labelledby="deleted" className="mt-8">
      <h2 id="deleted" className="font-medium">
        <Trans>Deleted spaces</Trans>
      </h2>
      <p className="mt-1 text-sm text-muted">
        <Trans>They can be restored, with everything in them, for 30 days.</Trans>
      </p>
      <ul className={listClass}>
        {spaces.map(({ _id, spaceId, spaceName, trashedAt }) => (
          <li key={_id} className="flex flex-wrap items-center gap-3 px-4 py-3 sm:px-5">
            <span className="min-w-0 flex-1 truncate text-sm font-medium">{spaceName}</span>
            <RelativeTime at={trashedAt ?? now} now={now} className="text-sm text-muted" />
            <OperationForm
              of={spaceOperations.restore}
              values={{ spaceId }}
              submit={t`Restore`}
              size="sm"
              whom={spaceName}
              next="/s/:slug"
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
