import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link, NavLink, useLocation } from "react-router"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { Keys } from "#app/ui/keys.tsx"
import { Logo } from "#app/ui/logo.tsx"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { useCommand } from "./commands/commands.tsx"
import { shortcuts } from "./commands/shortcuts.ts"
import { UploadBadge } from "./files/upload/upload-badge.tsx"
import { NotificationsLink } from "./notifications/notifications-link.tsx"
import { usePlaces } from "./places.ts"
import { Switcher } from "./spaces/switcher.tsx"
import { useOffersSpaces, useSpace } from "./place/use-spaces.ts"
import { UserMenu } from "./user-menu.tsx"

/** The main links, the latest conversations, and the user. Shown from 1024 pixels on. */
export function Sidebar({ threads }: { threads: readonly ThreadSummary[] }) {
  const { t } = useLingui()
  const places = usePlaces()
  const space = useSpace()
  const offersSpaces = useOffersSpaces()
  return (
    <aside className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-sunken lg:flex">
      <div className="flex items-center px-4 pt-4 pb-3">
        <Link to={href("/dashboard")} className="flex min-h-9 items-center rounded-md px-1.5">
          <Logo name="Tideline" />
        </Link>
        {offersSpaces ? <NotificationsLink className="ml-auto size-9 touch:size-11" /> : null}
      </div>
      {offersSpaces ? <Switcher place="side" /> : null}
      <SearchButton />
      <nav aria-label={t`Dashboard`} className="flex min-h-0 flex-1 flex-col">
        <ul className="space-y-0.5 px-3">
          {places.map(({ to, label, icon, end, shortcut }) => (
            <li key={to} className="group relative">
              <NavLink
                to={to}
                end={end}
                prefetch="intent"
                className={classNames(rowClass, "gap-3 font-medium")}
              >
                <Icon name={icon} className="opacity-80" />
                {t(label)}
                {to === href("/dashboard/files") ? <UploadBadge /> : null}
              </NavLink>
              <span
                aria-hidden="true"
                className="pointer-events-none absolute inset-y-0 right-2 flex items-center opacity-0 transition-opacity group-hover:opacity-100 touch:hidden"
              >
                {shortcut ? <Keys keys={shortcuts[shortcut]} /> : null}
              </span>
            </li>
          ))}
        </ul>
        {space === null && threads.length > 0 ? <RecentThreads threads={threads} /> : null}
      </nav>
      <div className="border-t border-line p-3">
        <UserMenu place="side" />
      </div>
    </aside>
  )
}

/** Looks like a field, and opens the command palette. */
function SearchButton() {
  const command = useCommand()
  return (
    <button
      type="button"
      aria-keyshortcuts="Control+K Meta+K"
      aria-haspopup="dialog"
      onClick={() => command?.("palette")}
      className="mx-3 mb-3 flex h-9 items-center gap-2.5 rounded-md border border-line-strong bg-surface pr-1.5 pl-2.5 text-sm text-faint shadow-sm transition-colors hover:border-faint hover:text-muted touch:h-11 noscript:hidden"
    >
      <Icon name="search" />
      <Trans>Search</Trans>
      <span aria-hidden="true" className="ml-auto">
        <Keys keys="mod+k" />
      </span>
    </button>
  )
}

function RecentThreads({ threads }: { threads: readonly ThreadSummary[] }) {
  // From 1280 pixels on, the chat shows its own list beside the conversation.
  const isChat = useLocation().pathname.startsWith(href("/dashboard/chat"))
  return (
    <section
      aria-labelledby="recent-threads"
      className={classNames("mt-6 flex min-h-0 flex-1 flex-col", isChat && "xl:hidden")}
    >
      <h2 id="recent-threads" className="px-5.5 pb-1.5 text-xs font-medium text-faint">
        <Trans>Recent conversations</Trans>
      </h2>
      <ul className="min-h-0 flex-1 space-y-0.5 overflow-y-auto px-3 pb-3">
        {threads.map((thread) => (
          <li key={thread._id}>
            <NavLink
              to={href("/dashboard/chat/:threadId", { threadId: thread._id })}
              prefetch="intent"
              className={rowClass}
              title={thread.title}
            >
              <span dir="auto" className="truncate">
                {thread.title}
              </span>
            </NavLink>
          </li>
        ))}
      </ul>
    </section>
  )
}

const rowClass =
  "flex min-h-9 items-center rounded-md px-2.5 text-sm text-muted transition-colors hover:bg-hover hover:text-ink aria-[current=page]:bg-surface aria-[current=page]:text-ink aria-[current=page]:shadow-sm touch:min-h-11 [&.pending]:bg-hover [&.pending]:text-ink"
