import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useState } from "react"
import { href, Link } from "react-router"
import { classNames } from "#app/ui/class-names.ts"
import { defer, whenRendered } from "#app/ui/defer.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { whenWanted } from "#app/ui/when-wanted.ts"
import { PlaceAvatar } from "#app/routes/dashboard/place/place-avatar.tsx"
import { useSpace } from "#app/routes/dashboard/place/use-spaces.ts"

// Only where spaces are offered: everybody else would load it for nothing.
const SwitcherMenu = defer(() => import("./switcher-menu.tsx"), whenRendered)((parts) => parts.SwitcherMenu)

/**
 * Says whether the page is personal or in a space, and leads to the others: by a native popover, or
 * by the page of all spaces where there is no JavaScript to load its menu.
 */
export function Switcher({ place }: { place: "top" | "side" }) {
  const { t } = useLingui()
  const current = useSpace()
  const [isWanted, setWanted] = useState(false)
  useEffect(() => whenWanted(() => setWanted(true)), [])
  const menu = `spaces-${place}`
  const label = (
    <>
      <PlaceAvatar space={current ?? null} />
      <span className="min-w-0 flex-1 truncate text-left">
        <span className="sr-only">
          <Trans>Space:</Trans>{" "}
        </span>
        {current?.spaceName ?? t`Personal`}
      </span>
      <Icon name="chevron-down" className="size-3.5 shrink-0 text-faint" />
    </>
  )
  return (
    <>
      <button
        type="button"
        popoverTarget={menu}
        className={classNames("flex noscript:hidden", labelClasses[place])}
      >
        {label}
      </button>
      <Link
        to={href("/dashboard/spaces")}
        className={classNames("hidden noscript:flex", labelClasses[place])}
      >
        {label}
      </Link>
      <div
        id={menu}
        popover="auto"
        className={classNames(
          "fixed inset-auto left-3 m-0 max-h-[70dvh] w-64 overflow-y-auto rounded-lg border border-line bg-raised p-1.5 text-ink shadow-lg",
          "transition-[opacity,translate] duration-100 ease-out starting:-translate-y-1 starting:opacity-0",
          popoverClasses[place],
        )}
      >
        {isWanted ? <SwitcherMenu menu={menu} /> : null}
      </div>
    </>
  )
}

const labelClasses = {
  top: "mr-auto min-h-11 max-w-[55%] min-w-0 items-center gap-2 rounded-md px-1.5 text-sm font-medium",
  side: "mx-3 mb-3 min-h-10 items-center gap-2.5 rounded-md px-2 text-sm font-medium transition-colors hover:bg-hover touch:min-h-11",
}

const popoverClasses = {
  top: "top-[calc(3.5rem+env(safe-area-inset-top))]",
  side: "top-27 max-lg:hidden",
}
