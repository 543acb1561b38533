import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link, useLocation, useRouteLoaderData } from "react-router"
import { Avatar } from "#app/ui/avatar.tsx"
import { Badge } from "#app/ui/badge.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { LanguageChoice } from "#app/ui/language-choice.tsx"
import { ThemeToggle } from "#app/ui/theme-toggle.tsx"
import { Keys } from "#app/ui/keys.tsx"
import type { UserRecord } from "#server/users/contract.ts"
import type { loader as rootLoader } from "#app/root.tsx"
import { useCommand } from "./commands/commands.tsx"
import { useUser } from "./viewer/use-user.ts"
import { useViewer } from "./viewer/use-viewer.ts"

/**
 * The signed-in user, with the account's actions. A native popover: needs no JavaScript, and
 * returns the focus.
 */
export function UserMenu({ place }: { place: "top" | "side" }) {
  const user = useUser()
  const menu = `user-menu-${place}`
  const name = user.name ?? user.email
  return (
    <>
      <button type="button" popoverTarget={menu} className={buttonClasses[place]}>
        <Avatar name={name} image={user.imageUrl} />
        <span
          className={place === "side" ? "min-w-0 flex-1 truncate text-left text-sm font-medium" : "sr-only"}
        >
          <span className="sr-only">
            <Trans>Your account,</Trans>{" "}
          </span>
          <bdi>{name}</bdi>
        </span>
        {place === "side" ? <PlanBadge plan={user.plan} /> : null}
      </button>
      <div
        id={menu}
        popover="auto"
        className={classNames(
          "m-0 w-68 rounded-lg border border-line bg-raised p-1.5 text-ink shadow-lg",
          "transition-[opacity,translate] duration-100 ease-out starting:translate-y-1 starting:opacity-0",
          popoverClasses[place],
        )}
      >
        <MenuContent id={menu} user={user} />
      </div>
    </>
  )
}

const buttonClasses = {
  top: "-mr-1.5 grid size-11 place-items-center rounded-full",
  side: "flex w-full items-center gap-2.5 rounded-md p-1.5 transition-colors hover:bg-hover touch:min-h-11",
}

const popoverClasses = {
  top: "fixed inset-auto top-[calc(3.5rem+env(safe-area-inset-top))] right-3",
  side: "fixed inset-auto bottom-17 left-3 max-lg:hidden",
}

function MenuContent({ id, user }: { id: string; user: UserRecord }) {
  const { t } = useLingui()
  const command = useCommand()
  const theme = useRouteLoaderData<typeof rootLoader>("root")?.theme ?? "system"
  const { isOperator } = useViewer()
  const { pathname, search } = useLocation()
  return (
    <>
      <div className="flex items-start gap-2 px-2.5 pt-2 pb-3">
        <div className="min-w-0 flex-1">
          {user.name ? <p className="truncate text-sm font-medium">{user.name}</p> : null}
          <p className="truncate text-sm text-muted">{user.email}</p>
        </div>
        <PlanBadge plan={user.plan} />
      </div>
      <div className="flex items-center justify-between border-y border-line px-2.5 py-2 text-sm text-muted">
        <Trans>Theme</Trans>
        <ThemeToggle theme={theme} action={href("/theme")} from={pathname + search} />
      </div>
      <div className="flex items-center justify-between border-b border-line px-2.5 py-2 text-sm text-muted">
        <span aria-hidden="true">{t`Language`}</span>
        <LanguageChoice action={href("/language")} from={pathname + search} />
      </div>
      <div className="pt-1.5">
        <Link to={href("/dashboard/account")} className={itemClass}>
          <Icon name="user" className="opacity-70" />
          <Trans>Account</Trans>
        </Link>
        <Link to={href("/pricing")} reloadDocument className={itemClass}>
          <Icon name="layers" className="opacity-70" />
          <Trans>Plans</Trans>
        </Link>
        {isOperator ? (
          <Link to={href("/admin")} reloadDocument className={itemClass}>
            <Icon name="settings" className="opacity-70" />
            <Trans>Administration</Trans>
          </Link>
        ) : null}
        {command ? (
          <button
            type="button"
            popoverTarget={id}
            popoverTargetAction="hide"
            onClick={() => command("shortcuts")}
            className={classNames(itemClass, "max-lg:hidden noscript:hidden")}
          >
            <Icon name="keyboard" className="opacity-70" />
            <Trans>Keyboard shortcuts</Trans>
            <span aria-hidden="true" className="ml-auto">
              <Keys keys="?" />
            </span>
          </button>
        ) : null}
        <form method="post" action={href("/sign-out")}>
          <button className={itemClass}>
            <Icon name="sign-out" className="opacity-70" />
            <Trans>Sign out</Trans>
          </button>
        </form>
      </div>
    </>
  )
}

function PlanBadge({ plan }: { plan: UserRecord["plan"] }) {
  const { t } = useLingui()
  return plan === "pro" ? (
    <Badge tone="accent">{t`Pro`}</Badge>
  ) : (
    <Badge>
      <Trans>Free</Trans>
    </Badge>
  )
}

const itemClass =
  "flex min-h-9 w-full items-center gap-2.5 rounded-md px-2.5 text-sm hover:bg-hover focus-visible:-outline-offset-2 touch:min-h-11"
