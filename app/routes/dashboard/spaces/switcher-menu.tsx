import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link } from "react-router"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import type { Membership } from "#server/spaces/contract.ts"
import { PlaceAvatar } from "#app/routes/dashboard/place/place-avatar.tsx"
import { useSpace, useSpaces } from "#app/routes/dashboard/place/use-spaces.ts"

/** What the switcher opens; `menu` is the id of its popover. */
export function SwitcherMenu({ menu }: { menu: string }) {
  const { t } = useLingui()
  const spaces = useSpaces()
  const current = useSpace()
  return (
    <nav aria-label={t`Spaces`}>
      <ul>
        <li>
          <Place
            to={href("/dashboard")}
            name={t`Personal`}
            space={null}
            isCurrent={current === null}
            menu={menu}
          />
        </li>
        {spaces.map((space) => (
          <li key={space._id}>
            <Place
              to={href("/s/:slug", { slug: space.spaceSlug })}
              name={space.spaceName}
              space={space}
              isCurrent={current?._id === space._id}
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
  )
}

function Place({
  to,
  name,
  space,
  isCurrent,
  menu,
}: {
  to: string
  name: string
  space: Membership | null
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
      <PlaceAvatar space={space} />
      <span dir="auto" className="min-w-0 flex-1 truncate">
        {name}
      </span>
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
