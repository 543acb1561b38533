import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useCallback, useEffect, useSyncExternalStore } from "react"
import { href, isRouteErrorResponse, useLocation, useRevalidator } from "react-router"
import { buttonClass, LinkButton } from "#app/ui/button.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import type { IconName } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { Page } from "#app/ui/page.tsx"
import { unlessLeaving } from "./leaving.ts"

/**
 * Replaces a page that could not be shown. The shell stays around it, with anything in progress.
 */
export function PageFailure({ error }: { error: unknown }) {
  const { t } = useLingui()
  const { icon, canRetry, ...words } = describe(error, useIsOffline())
  const title = t(words.title)
  return (
    <Page>
      <title>{`${title} · Tideline`}</title>
      <EmptyState
        icon={icon}
        title={title}
        level={1}
        className="rounded-lg border border-line bg-surface shadow-sm sm:py-24"
        action={canRetry ? <Retry /> : <LinkButton to={href("/dashboard")}>{t`Go home`}</LinkButton>}
      >
        {t(words.about)}
      </EmptyState>
    </Page>
  )
}

interface Failure {
  icon: IconName
  title: MessageDescriptor
  about: MessageDescriptor
  canRetry: boolean
}

function describe(error: unknown, isOffline: boolean): Failure {
  if (isOffline) {
    const about = msg`This page opens automatically when the connection returns. Nothing is lost.`
    return { icon: "plug", title: msg`You are offline`, about, canRetry: true }
  }
  const status = isRouteErrorResponse(error) ? error.status : 500
  if (status === 404) {
    const about = msg`The address may be mistyped, or the page has moved or been deleted.`
    return { icon: "search", title: msg`Page not found`, about, canRetry: false }
  }
  if (status === 403) {
    const about = msg`It belongs to somebody else. Ask them to share it with you.`
    return { icon: "lock", title: msg`You don't have access`, about, canRetry: false }
  }
  const about = msg`The server returned an unexpected response. Try again in a moment. If it keeps happening, tell the administrator when it happened.`
  return { icon: "warning", title: msg`This page couldn't be loaded`, about, canRetry: true }
}

/**
 * Loads the page again, also automatically when the connection is back. Without JavaScript it is a
 * link to the current page.
 */
function Retry() {
  const { pathname, search } = useLocation()
  const { state, revalidate } = useRevalidator()
  const isPending = state !== "idle"
  const reload = useCallback(() => unlessLeaving(() => void revalidate()), [revalidate])
  useEffect(() => {
    window.addEventListener("online", reload)
    return () => window.removeEventListener("online", reload)
  }, [reload])
  return (
    <a
      href={pathname + search}
      aria-busy={isPending || undefined}
      onClick={(event) => {
        event.preventDefault()
        reload()
      }}
      className={buttonClass({ variant: "secondary" })}
    >
      {isPending ? <Spinner /> : null}
      <Trans>Try again</Trans>
    </a>
  )
}

function useIsOffline(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => !navigator.onLine,
    () => false,
  )
}

function subscribe(listener: () => void) {
  window.addEventListener("online", listener)
  window.addEventListener("offline", listener)
  return () => {
    window.removeEventListener("online", listener)
    window.removeEventListener("offline", listener)
  }
}
