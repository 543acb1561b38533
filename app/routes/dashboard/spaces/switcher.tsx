import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link } from "react-router"
import { Avatar } from "#app/ui/avatar.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { useUser } from "#app/routes/dashboard/use-user.ts"
import { useSpace, useSpaces } from "./use-spaces.ts"

/**
 * Says whether the page is personal or in a space, and leads to the others. A native popover, as the
 * user menu is.
 */
export function Switcher({ place }: { place: "top" | "side" }) {
  const { t } = useLingui()
  const spaces = useSpaces()
  const current = useSpace()
  const user = useUser()
  const menu = `spaces-${place}`
  const name = current?.spaceName ?? t`Personal`
  return (
    <>
      <button type="button" popoverTarget={menu} className={buttonClasses[place]}>
        <Avatar
          name={current ? current.spaceName : (user.name ?? user.email)}
          image={current ? null : user.imageUrl}
          className="size-6 rounded-md text-[0.625rem]"
        />
        <span className="min-w-0 flex-1 truncate text-left">
          <span className="sr-only">
            <Trans>Space:</Trans>{" "}
          </span>
          {name}
        </span>
        <Icon name="chevron-down" className="size-3.5 shrink-0 text-faint" />
      </button>
      <div
        id={menu}
        popover="auto"
        className={classNames(
          "m-0 max-h-[70dvh] w-64 overflow-y-auto rounded-lg border border-line bg-raised p-1.5 text-ink shadow-lg",
          "transition-[opacity,translate] duration-100 ease-out starting:-translate-y-1 starting:opacity-0",
          popoverClasses[place],
        )}
      >
        <nav aria-label={t`Spaces`}>
          <ul>
            <li>
              <Place to={href("/dashboard")} name={t`Personal`} isCurrent={current === null} menu={menu} />
            </li>
            {spaces.map(({ _id, spaceSlug, spaceName }) => (
              <li key={_id}>
                <Place
                  to={href("/s/:slug", { slug: spaceSlug })}
                  name={spaceName}
                  isCurrent={current?._id === _id}
                  menu={menu}
                />
              </li>
            ))}
          </ul>
          <Link
            to={href("/dashboard/spaces")}
            className={classNames(itemClass, "mt-1.5 border-t border-line")}
            onClick={() => close(menu)}
          >
            <Icon name="plus" className="mx-1 opacity-70" />
            <Trans>New space and invitations</Trans>
          </Link>
        </nav>
      </div>
    </>
  )
}

function Place({
  to,
  name,
  isCurrent,
  menu,
}: {
  to: string
  name: string
  isCurrent: boolean
  menu: string
}) {
  return (
    <Link
      to={to}
      aria-current={isCurrent ? "true" : undefined}
      className={itemClass}
      onClick={() => close(menu)}
    >
      <Avatar name={name} className="size-6 rounded-md text-[0.625rem]" />
      <span className="min-w-0 flex-1 truncate">{name}</span>
      {isCurrent ? <Icon name="check" className="size-3.5 text-accent-ink" /> : null}
    </Link>
  )
}

/** A navigation inside the page does not close a popover. */
function close(menu: string) {
  document.getElementById(menu)?.hidePopover()
}

const itemClass =
  "flex min-h-9 items-center gap-2.5 rounded-md px-2 text-sm text-ink transition-colors hover:bg-hover touch:min-h-11"

const buttonClasses = {
  top: "mr-auto flex min-h-11 max-w-[55%] min-w-0 items-center gap-2 rounded-md px-1.5 text-sm font-medium",
  side: "mx-3 mb-3 flex min-h-10 items-center gap-2.5 rounded-md px-2 text-sm font-medium transition-colors hover:bg-hover touch:min-h-11",
}

const popoverClasses = {
  top: "fixed inset-auto top-[calc(3.5rem+env(safe-area-inset-top))] left-3",
  side: "fixed inset-auto top-26 left-3 max-lg:hidden",
}
