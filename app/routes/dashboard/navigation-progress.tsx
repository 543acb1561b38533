import { useLingui } from "@lingui/react/macro"
import { useNavigation } from "react-router"

/**
 * A progress line along the top edge while the next page is loading. Delayed, so that fast pages
 * show none.
 */
export function NavigationProgress() {
  const { t } = useLingui()
  const { state } = useNavigation()
  if (state === "idle") return null
  return (
    <div
      role="progressbar"
      aria-label={t`Loading the page`}
      className="fixed inset-x-0 top-0 z-60 h-0.5 animate-appear overflow-hidden"
    >
      <div className="h-full origin-left scale-x-90 bg-accent transition-transform duration-[8s] ease-out starting:scale-x-0" />
    </div>
  )
}
