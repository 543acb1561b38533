import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { isRouteErrorResponse } from "react-router"
import { ErrorPage } from "#app/features/site/error-page.tsx"
import { HomeLink } from "#app/features/site/home-link.tsx"

/** In place of a page whose link does not work. */
export function DeadLink({
  error,
  title,
  children,
}: {
  error: unknown
  /** Of the document. */
  title?: string
  children?: ReactNode
}) {
  const { t } = useLingui()
  if (!isRouteErrorResponse(error) || error.status !== 404) return <ErrorPage error={error} />
  return (
    <LinkFrame>
      <title>{title ?? t`No such link · Tideline`}</title>
      <meta name="robots" content="noindex, nofollow" />
      {children ?? (
        <>
          <h1 className="text-xl font-semibold">
            <Trans>This link doesn't work</Trans>
          </h1>
          <p className="mt-2 text-muted">
            <Trans>Ask the person who sent it for a new one.</Trans>
          </p>
        </>
      )}
    </LinkFrame>
  )
}

/** The page of a link, narrow and in the middle unless it `isWide`. */
export function LinkFrame({ isWide = false, children }: { isWide?: boolean; children: ReactNode }) {
  return (
    <div className="flex min-h-dvh flex-col px-5">
      <header className="py-5">
        <HomeLink />
      </header>
      <main
        className={
          isWide
            ? "flex w-full flex-1 flex-col pt-4"
            : "mx-auto flex w-full max-w-md flex-1 flex-col justify-center pt-4 pb-24"
        }
      >
        {children}
      </main>
    </div>
  )
}
