import { Trans, useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { NavLink, useParams } from "react-router"
import { Button, LinkButton } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { SearchField } from "#app/ui/search-field.tsx"
import { useLivePages } from "#live/react"
import { SEARCH_LIMIT, type ThreadSummary } from "#server/chat/contract.ts"
import type { Loaded } from "#live/contract"
import { groupByDate } from "./group-by-date.ts"
import { RenameForm } from "./rename-form.tsx"
import { useUnread } from "#app/routes/dashboard/notifications/use-unread.ts"
import { useCountUnread } from "./reads.tsx"
import { SearchResultList } from "./thread-search.tsx"
import { ThreadMenu } from "./thread-menu.tsx"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useHydrated } from "#app/ui/use-hydrated.ts"

/** The part of it that the chat's layout has loaded. */
interface LoadedThreads {
  threads: Loaded<ThreadSummary>
  now: number
}

interface ThreadListProps {
  list: LoadedThreads
  /** Called when a conversation is chosen. */
  onLeave?: (() => void) | undefined
}

/**
 * The user's conversations: search results, or all of them grouped by the day of their last
 * message.
 */
export function ThreadList({ list, onLeave }: ThreadListProps) {
  const { t } = useLingui()
  const { mayEdit, addresses } = usePlace()
  const [sought, setSought] = useState("")
  return (
    <>
      <h2 className="flex h-14 shrink-0 items-center px-5 text-sm font-semibold">
        <Trans>Conversations</Trans>
      </h2>
      {mayEdit ? (
        <LinkButton
          to={addresses.chat}
          variant="secondary"
          className="mx-3 mb-2"
          aria-keyshortcuts="Control+Shift+O Meta+Shift+O"
          title={t`New conversation (Ctrl or ⌘ + Shift + O)`}
          {...(onLeave && { onClick: onLeave })}
        >
          <Icon name="plus" />
          <Trans>New conversation</Trans>
        </LinkButton>
      ) : null}
      <search className="mx-3 mb-3 shrink-0">
        <SearchField
          label={t`Search conversations`}
          placeholder={t`Search conversations`}
          value={sought}
          onChange={({ target }) => setSought(target.value)}
          onClear={() => setSought("")}
          maxLength={SEARCH_LIMIT}
        />
      </search>
      <nav aria-label={t`Conversations`} className="min-h-0 flex-1 overflow-y-auto px-3 pb-4">
        {sought.trim() ? (
          <SearchResultList sought={sought} onLeave={onLeave} />
        ) : (
          <ThreadsByDate list={list} onLeave={onLeave} />
        )}
      </nav>
    </>
  )
}

function ThreadsByDate({ list, onLeave }: ThreadListProps) {
  const { i18n, t } = useLingui()
  const { spaceName } = usePlace()
  const { rows: threads, hasMore, isLoading, loadMore } = useLivePages(list.threads)
  const timeZone = useHydrated() ? undefined : "UTC" // only the browser knows the reader's own
  if (threads.length === 0)
    return (
      <p className="px-2.5 py-2 text-sm text-faint">
        {spaceName === null
          ? t`Your conversations are saved here.`
          : t`There are no conversations in ${spaceName} yet.`}
      </p>
    )
  return (
    <>
      {groupByDate(threads, list.now, timeZone, i18n).map(({ label, threads: group }) => (
        <section key={label} className="mb-4" aria-label={label}>
          <h3 className="sticky top-0 z-10 bg-canvas px-2.5 py-1.5 text-xs font-medium text-faint">
            {label}
          </h3>
          <ul className="space-y-0.5">
            {group.map((thread) => (
              <ThreadRow key={thread._id} thread={thread} onLeave={onLeave} />
            ))}
          </ul>
        </section>
      ))}
      {hasMore ? (
        <Button variant="ghost" size="sm" className="w-full" pending={isLoading} onClick={loadMore}>
          <Trans>Show older</Trans>
        </Button>
      ) : null}
    </>
  )
}

/** What is special about a conversation of a space, and what the user has not read of it. */
function ThreadSigns({ thread }: { thread: ThreadSummary }) {
  const { t } = useLingui()
  const { threadId: openId } = useParams()
  const isMentioned = useUnread().some(({ threadId }) => threadId === thread._id)
  const unread = useCountUnread()(thread)
  if (thread.spaceId === null) return null
  const count = unread > MOST_UNREAD ? `${MOST_UNREAD}+` : String(unread)
  const label = [isMentioned && t`You were mentioned`, unread > 0 && t`${count} unread`].filter(
    (part) => part !== false,
  )
  return (
    <span className="ml-auto flex shrink-0 items-center gap-1.5 pl-2 text-faint">
      {thread.peopleOnly ? (
        <span title={t`People only`}>
          <Icon name="people" className="size-3.5" />
          <span className="sr-only">{t`People only`}</span>
        </span>
      ) : null}
      {thread._id === openId || label.length === 0 ? null : (
        <span
          title={label.join(", ")}
          className="min-w-5 rounded-full bg-accent-soft px-1.5 py-0.5 text-center text-xs font-medium text-accent-ink tabular-nums"
        >
          <span aria-hidden>{[isMentioned && "@", unread > 0 && count].filter(Boolean).join(" ")}</span>
          <span className="sr-only">{label.join(", ")}</span>
        </span>
      )}
    </span>
  )
}

/** More are not counted. */
const MOST_UNREAD = 99

function ThreadRow({ thread, onLeave }: { thread: ThreadSummary; onLeave: (() => void) | undefined }) {
  const { addresses, mayEdit } = usePlace()
  const [isRenaming, setRenaming] = useState(false)
  if (isRenaming) {
    return (
      <li>
        <RenameForm thread={thread} onClose={() => setRenaming(false)} className="w-full" />
      </li>
    )
  }
  return (
    <li className="group relative">
      <NavLink
        to={addresses.threadAt(thread._id)}
        prefetch="intent"
        title={thread.title}
        onDoubleClick={() => setRenaming(mayEdit)}
        className="flex min-h-9 items-center rounded-md pr-10 pl-2.5 text-sm text-muted transition-colors group-hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink touch:min-h-11"
        {...(onLeave && { onClick: onLeave })}
      >
        <span dir="auto" className="truncate">
          {thread.title}
        </span>
        <ThreadSigns thread={thread} />
      </NavLink>
      <div className="absolute top-1/2 right-0.5 -translate-y-1/2 opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 touch:opacity-100">
        <ThreadMenu thread={thread} onRename={() => setRenaming(true)} />
      </div>
    </li>
  )
}
