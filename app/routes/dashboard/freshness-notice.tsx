import { useEffect, useRef, useState } from "react"
import { useFreshness } from "#app/realtime/use-live.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"

/** A connection that is back sooner is not worth a word. Milliseconds. */
const PATIENCE = 2_000

/** Says when the page is not live, and as of when what it shows was true. */
export function FreshnessNotice() {
  const { state, asOf } = useFreshness()
  const isShown = useAfter(PATIENCE, state === "stale" || state === "outdated")
  useLeaving(state === "signed-out")

  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-0 bottom-[calc(4.75rem+env(safe-area-inset-bottom))] z-40 flex justify-center px-4 lg:bottom-5"
    >
      {isShown ? (
        <p className="pointer-events-auto flex items-center gap-2.5 rounded-full border border-line-strong bg-raised px-4 py-2 text-sm text-muted shadow-md">
          {state === "outdated" ? (
            <>
              <Icon name="info" />
              There is a newer version.
              <button
                type="button"
                onClick={() => location.reload()}
                className="font-medium text-accent-ink underline"
              >
                Reload
              </button>
            </>
          ) : (
            <>
              <Spinner />
              Reconnecting{asOf > 0 ? `, as of ${timeOf(asOf)}` : ""}
            </>
          )}
        </p>
      ) : null}
    </div>
  )
}

/**
 * Loads the page again once nobody is signed in any more: the server sends them to the sign-in page. The tab where they signed out is
 * already on its way to another page, and goes on there.
 */
function useLeaving(isSignedOut: boolean) {
  const isUnloading = useRef(false)
  useEffect(() => {
    const unload = () => void (isUnloading.current = true)
    window.addEventListener("beforeunload", unload)
    return () => window.removeEventListener("beforeunload", unload)
  }, [])
  useEffect(() => {
    if (isSignedOut && !isUnloading.current) location.reload()
  }, [isSignedOut])
}

function timeOf(moment: number) {
  return new Date(moment).toLocaleTimeString("en-GB")
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
