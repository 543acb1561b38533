import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link } from "react-router"
import { OperationForm } from "#app/features/operations/operation-form.tsx"
import { FormNotice } from "#app/features/operations/plain-form.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { useLivePages } from "#live/react"
import { Avatar } from "#app/ui/avatar.tsx"
import { Button } from "#app/ui/button.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { Page, PageHead } from "#app/ui/page.tsx"
import { addressesIn } from "#app/routes/dashboard/place/use-place.ts"
import { useSpaces } from "#app/routes/dashboard/place/use-spaces.ts"
import { loadLive } from "#server/http/live.ts"
import { performOperations } from "#server/http/perform-operations.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Notification } from "#server/notifications/contract.ts"
import { liveNotifications } from "#server/notifications/live.ts"
import { notificationOperations } from "#server/notifications/operations-contract.ts"
import { notificationFunctions } from "#server/notifications/operations.ts"
import type { Membership } from "#server/spaces/contract.ts"
import { useUnread } from "./use-unread.ts"
import type { Route } from "./+types/page.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Notifications · Tideline`) },
]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const [notifications] = await loadLive(scope, [liveNotifications, {}])
  return { notifications, now: Date.now() }
}

export const action = performOperations(notificationFunctions)

export default function Notifications({ loaderData: { notifications, now } }: Route.ComponentProps) {
  const { t } = useLingui()
  const spaces = useSpaces()
  const hasUnread = useUnread().length > 0
  const { rows, hasMore, isLoading, loadMore } = useLivePages(notifications)
  return (
    <Page narrow>
      <PageHead title={t`Notifications`}>
        {hasUnread ? (
          <OperationForm of={notificationOperations.markRead} submit={t`Mark all as read`} size="sm" />
        ) : null}
      </PageHead>
      <FormNotice />
      <p className="mt-3 max-w-2xl text-sm text-muted">
        <Trans>
          Messages in spaces that mention you. What you don't open within ten minutes also comes by email.{" "}
          <Link
            to={`${href("/dashboard/account")}#notifications`}
            className="font-medium text-accent-ink underline underline-offset-2"
          >
            Notification settings
          </Link>
        </Trans>
      </p>
      {rows.length > 0 ? (
        <ul className="mt-5 divide-y divide-line rounded-lg border border-line bg-surface shadow-sm">
          {rows.map((notification) => (
            <Row
              key={notification._id}
              notification={notification}
              space={spaces.find(({ spaceId }) => spaceId === notification.spaceId)}
              now={now}
            />
          ))}
        </ul>
      ) : (
        <EmptyState
          icon="bell"
          title={t`Nobody has mentioned you`}
          className="mt-5 rounded-lg border border-line bg-surface"
        >
          <Trans>
            When a member of one of your spaces writes @ and your name, the message is listed here.
          </Trans>
        </EmptyState>
      )}
      {hasMore ? (
        <Button variant="secondary" className="mt-5" pending={isLoading} onClick={loadMore}>
          <Trans>Show more</Trans>
        </Button>
      ) : null}
    </Page>
  )
}

function Row({
  notification: { _creationTime, threadId, messageId, authorName, excerpt, read },
  space,
  now,
}: {
  notification: Notification
  /** Undefined for the moment between the end of a membership and that of its notifications. */
  space: Membership | undefined
  now: number
}) {
  const { t } = useLingui()
  if (!space) return null
  const author = authorName ?? t`Former member`
  const { spaceName } = space
  return (
    <li>
      <Link
        to={`${addressesIn(space.spaceSlug).threadAt(threadId)}#message-${messageId}`}
        className="flex gap-3 px-4 py-3 transition-colors hover:bg-hover sm:px-5"
      >
        <Avatar name={author} />
        <span className="min-w-0 flex-1">
          <span className={read ? "block truncate text-sm text-muted" : "block truncate text-sm font-medium"}>
            {read ? null : (
              <span className="sr-only">
                <Trans>Unread:</Trans>{" "}
              </span>
            )}
            <Trans>
              {author} in {spaceName}
            </Trans>
          </span>
          <span className="mt-0.5 line-clamp-2 text-sm wrap-anywhere text-muted">{excerpt}</span>
          <RelativeTime
            at={_creationTime}
            now={Math.max(now, _creationTime)}
            className="mt-1 block text-xs text-faint"
          />
        </span>
        {read ? null : <span aria-hidden="true" className="mt-1.5 size-2 shrink-0 rounded-full bg-accent" />}
      </Link>
    </li>
  )
}
