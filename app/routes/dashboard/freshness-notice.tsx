import { Trans } from "@lingui/react/macro"
import { useEffect, useRef, useState } from "react"
import { useNavigation } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { useFreshness, useReconnect } from "#app/realtime/use-live.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { unlessLeaving } from "./leaving.ts"

/** A connection that is back sooner is not worth a word. Milliseconds. */
const NOTICE_DELAY = 2_000

/**
 * A page that is signed out again as soon as it was loaded again would be loaded for ever.
 * Milliseconds.
 */
const AGAIN = 60_000

/** Who is still signed out so long after a form was answered is. Milliseconds. */
const RECONNECTING = 5_000

const TIME = { timeStyle: "medium" } as const

/**
 * Says when the page is not live, and as of when what it shows was true. At the top, because all
 * that is used stands at the bottom.
 */
export function FreshnessNotice() {
  const { state, asOf } = useFreshness()
  const isShown = useAfter(NOTICE_DELAY, state === "stale" || state === "outdated")
  useLeaving(state === "signed-out")

  return (
    <div
      role="status"
      className="pointer-events-none fixed top-[calc(0.625rem+env(safe-area-inset-top))] right-16 z-40 flex justify-end lg:right-0 lg:left-66 lg:justify-center"
    >
      {isShown ? (
        <p className="flex h-9 items-center gap-2 rounded-full border border-line-strong bg-raised px-3 text-xs whitespace-nowrap text-muted tabular-nums shadow-md lg:text-sm">
          {state === "outdated" ? (
            <>
              <Icon name="info" />
              <Trans>There is a newer version.</Trans>
              <button
                type="button"
                onClick={() => location.reload()}
                className="pointer-events-auto font-medium text-accent-ink underline"
              >
                <Trans>Reload</Trans>
              </button>
            </>
          ) : (
            <>
              <Spinner />
              <Reconnecting asOf={asOf} />
            </>
          )}
        </p>
      ) : null}
    </div>
  )
}

/**
 * On its own, because the first time that a page writes takes a phone a tenth of a second, and most
 * pages never say it.
 */
function Reconnecting({ asOf }: { asOf: number }) {
  const time = useFormats().date(asOf, TIME)
  return asOf > 0 ? <Trans>Reconnecting, as of {time}</Trans> : <Trans>Reconnecting</Trans>
}

/**
 * Loads the page again once nobody is signed in any more: the server sends them to the sign-in
 * page. What ends a session may be a form of this page, whose answer brings the next session or
 * says where to go: a changed password, a deleted account. So the answer comes first. The tab where
 * they signed out is already on its way to another page, and goes on there.
 */
function useLeaving(isSignedOut: boolean) {
  const reconnect = useReconnect()
  const isAnswered = useNavigation().state === "idle"
  const wasAwaited = useRef(false)
  useEffect(() => {
    if (!isSignedOut) return
    if (!isAnswered) {
      wasAwaited.current = true
      return
    }
    if (wasAwaited.current) reconnect()
    const wait = wasAwaited.current ? RECONNECTING : wasJustReloaded() ? AGAIN : 0
    wasAwaited.current = false
    const timer = setTimeout(() => unlessLeaving(() => location.reload()), wait)
    return () => clearTimeout(timer)
  }, [isSignedOut, isAnswered, reconnect])
}

/**
 * Then the server takes the page's cookies and not those of the live connection: some browsers keep
 * them from workers.
 */
function wasJustReloaded(): boolean {
  const [load] = performance.getEntriesByType("navigation")
  return load instanceof PerformanceNavigationTiming && load.type === "reload" && performance.now() < 10_000
}

/** True once `wanted` has been true for so long; false at once when it no longer is. */
function useAfter(milliseconds: number, wanted: boolean) {
  const [isDue, setDue] = useState(false)
  useEffect(() => {
    if (!wanted) return
    const timer = setTimeout(() => setDue(true), milliseconds)
    return () => {
      clearTimeout(timer)
      setDue(false)
    }
  }, [wanted, milliseconds])
  return wanted && isDue
}
