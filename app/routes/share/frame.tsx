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

/** The page of a link: a card in the middle, a page as wide as a text, or all there is. */
export function LinkFrame({
  width = "card",
  children,
}: {
  width?: "card" | "page" | "full"
  children: ReactNode
}) {
  return (
    <div className="flex min-h-dvh flex-col px-5">
      <header className="py-5">
        <HomeLink />
      </header>
      <main className={`flex w-full flex-1 flex-col pt-4 ${widths[width]}`}>{children}</main>
    </div>
  )
}

const widths = {
  card: "mx-auto max-w-md justify-center pb-24",
  page: "mx-auto max-w-3xl pb-16",
  full: "",
}
