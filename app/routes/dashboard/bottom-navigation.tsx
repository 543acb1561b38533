import { useLingui } from "@lingui/react/macro"
import { href, NavLink } from "react-router"
import { Icon } from "#app/ui/icon.tsx"
import { UploadBadge } from "./files/upload/upload-badge.tsx"
import { usePlaces } from "./places.ts"

/** The main links, within reach of a thumb. */
export function BottomNavigation() {
  const { t } = useLingui()
  const places = usePlaces()
  return (
    <nav
      id="bottom-navigation"
      aria-label={t`Dashboard`}
      className="fixed inset-x-0 bottom-0 z-30 grid h-[calc(4rem+env(safe-area-inset-bottom))] auto-cols-fr grid-flow-col border-t border-line bg-canvas/90 px-2 pb-[env(safe-area-inset-bottom)] backdrop-blur-md lg:hidden"
    >
      {places.map(({ to, label, icon, end }) => (
        <NavLink
          key={to}
          to={to}
          end={end}
          prefetch="intent"
          className="group relative flex flex-col items-center justify-center gap-0.5 rounded-md text-xs font-medium text-muted -outline-offset-4 aria-[current=page]:text-accent-ink"
        >
          <span className="grid h-7 w-14 place-items-center rounded-full transition-colors group-aria-[current=page]:bg-accent-soft">
            <Icon name={icon} className="size-5" />
          </span>
          {t(label)}
          {to === href("/dashboard/files") ? <UploadBadge className="absolute top-1 right-3" /> : null}
        </NavLink>
      ))}
    </nav>
  )
}
