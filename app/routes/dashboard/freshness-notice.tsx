import { Trans } from "@lingui/react/macro"
import { useEffect, useRef, useState } from "react"
import { useNavigation } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { useFreshness, useReconnect } from "#live/react"
import { Icon } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { unlessLeaving } from "./leaving.ts"

/** Milliseconds. A connection that is back sooner is not worth a notice. */
const NOTICE_DELAY = 2_000

/** Milliseconds. Prevents an endless loop if the page is signed out again right after a reload. */
const AGAIN = 60_000

/**
 * Milliseconds. If the session is still gone this long after a form's response, the user is signed
 * out.
 */
const RECONNECTING = 5_000

const TIME = { timeStyle: "medium" } as const

/**
 * Shows when the page is not live, and how old its data is. At the top, because the controls are at
 * the bottom.
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
 * A component of its own: formatting the first time takes a phone a tenth of a second, and most
 * pages never show it.
 */
function Reconnecting({ asOf }: { asOf: number }) {
  const time = useFormats().date(asOf, TIME)
  return asOf > 0 ? <Trans>Reconnecting, as of {time}</Trans> : <Trans>Reconnecting</Trans>
}

/**
 * Reloads the page when the session has ended, so that the server redirects to the sign-in page. A
 * form of this page may have ended the session, by a changed password or a deleted account. Its
 * response brings a new session or a redirect, so wait for that first, and connect again with the
 * new session before believing that there is none. The tab in which the user signed out is already
 * navigating, and continues to its target.
 */
function useLeaving(isSignedOut: boolean) {
  const reconnect = useReconnect()
  const isAnswered = useNavigation().state === "idle"
  /** When a form last got its response, by `performance.now()`, until it has explained an end. */
  const answeredAt = useRef(-Infinity)
  useEffect(() => {
    if (isAnswered) return
    return () => {
      answeredAt.current = performance.now()
    }
  }, [isAnswered])
  useEffect(() => {
    if (!isSignedOut || !isAnswered) return
    const isExplained = performance.now() - answeredAt.current < RECONNECTING
    answeredAt.current = -Infinity
    if (isExplained) reconnect()
    const wait = isExplained ? RECONNECTING : wasJustReloaded() ? AGAIN : 0
    const timer = setTimeout(() => unlessLeaving(() => location.reload()), wait)
    return () => clearTimeout(timer)
  }, [isSignedOut, isAnswered, reconnect])
}

/**
 * After a reload the server has the page's cookies but may lack those of the live connection: some
 * browsers withhold them from workers.
 */
function wasJustReloaded(): boolean {
  const [load] = performance.getEntriesByType("navigation")
  return load instanceof PerformanceNavigationTiming && load.type === "reload" && performance.now() < 10_000
}

/** Turns true once `wanted` has been true for this long, and false immediately when it is not. */
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
