import { useLingui } from "@lingui/react/macro"
import { href, NavLink } from "react-router"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { useUnread } from "./use-unread.ts"

/** More are not counted. */
const MOST = 99

/** Leads to the notifications, and says how many are unread. */
export function NotificationsLink({ className }: { className?: string }) {
  const { t } = useLingui()
  const { length: unread } = useUnread()
  const label = unread > 0 ? t`Notifications, ${unread} unread` : t`Notifications`
  return (
    <NavLink
      to={href("/dashboard/notifications")}
      aria-label={label}
      title={t`Notifications`}
      className={classNames(
        "relative grid shrink-0 place-items-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:text-ink",
        className,
      )}
    >
      <Icon name="bell" className="size-4.5" />
      {unread > 0 ? (
        <span
          aria-hidden="true"
          className="absolute bottom-1/2 left-1/2 min-w-4.5 rounded-full bg-accent px-1 text-center text-[0.6875rem] leading-4.5 font-semibold text-on-accent tabular-nums"
        >
          {unread > MOST ? `${MOST}+` : unread}
        </span>
      ) : null}
    </NavLink>
  )
}
