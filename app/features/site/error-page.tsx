import type { I18n } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, isRouteErrorResponse, useLocation } from "react-router"
import { sentencesIn } from "#app/language/sentences.ts"
import type { RefusalData } from "#server/refusal-contract.ts"
import { LinkButton } from "#app/ui/button.tsx"
import { HomeLink } from "./home-link.tsx"

interface Failure {
  error: unknown
  /** The id of the request that returned the document. */
  requestId?: string | undefined
}

/** The whole page for an error that no nearer boundary caught. */
export function ErrorPage({ error, requestId }: Failure) {
  return (
    <div className="flex min-h-dvh flex-col px-6">
      <header className="py-6">
        <HomeLink />
      </header>
      <main className="flex flex-1 flex-col items-center justify-center pb-24">
        <ErrorNotice error={error} requestId={requestId} />
      </main>
    </div>
  )
}

/** The text alone, for an error inside a layout. */
export function ErrorNotice({ error, requestId }: Failure) {
  const { i18n } = useLingui()
  const { status, title, message } = textFor(error, i18n)
  // A page loaded by client navigation had its own request, whose id is unknown here.
  const isFromDocument = useLocation().key === "default"
  const secondFactor = secondFactorOf(error)
  return (
    <div className="mx-auto w-full max-w-lg px-5 py-20 text-center">
      <title>{`${title} · Tideline`}</title>
      <meta name="robots" content="noindex" />
      <p className="font-mono text-sm text-accent-ink">{status}</p>
      <h1 className="mt-3 text-3xl font-semibold">{title}</h1>
      <p className="mt-3 text-muted">{message}</p>
      <div className="mt-8 flex flex-wrap justify-center gap-3">
        {secondFactor ? (
          <LinkButton to={secondFactor} reloadDocument>
            <Trans>Continue with two-factor authentication</Trans>
          </LinkButton>
        ) : (
          <LinkButton to={href("/")} reloadDocument>
            <Trans>Go to the home page</Trans>
          </LinkButton>
        )}
        <LinkButton to={href("/dashboard")} variant="secondary" reloadDocument>
          <Trans>Open the dashboard</Trans>
        </LinkButton>
      </div>
      {status === 404 ? <SomethingToRead /> : null}
      {status >= 500 && requestId && isFromDocument ? (
        <p className="mt-8 text-sm text-faint">
          <Trans>
            Request <code className="font-mono">{requestId}</code>
          </Trans>
        </p>
      ) : null}
    </div>
  )
}

function SomethingToRead() {
  return (
    <p className="mt-8 text-sm text-faint">
      <Trans>
        Looking for something to read? Try the{" "}
        <a className="text-accent-ink underline underline-offset-3" href={href("/blog")}>
          blog
        </a>{" "}
        or the{" "}
        <a className="text-accent-ink underline underline-offset-3" href={href("/docs")}>
          documentation
        </a>
        .
      </Trans>
    </p>
  )
}

function textFor(error: unknown, i18n: I18n) {
  const status = statusOf(error)
  if (status === 404) {
    const message = i18n._(msg`The address may be mistyped, or the page has moved or been deleted.`)
    return { status, title: i18n._(msg`Page not found`), message }
  }
  const said = refusalIn(error)
  if (secondFactorOf(error) !== null && said !== null)
    return { status, title: i18n._(msg`One more step`), message: sentencesIn(i18n)(said) }
  if (status === 403) {
    const message =
      said === null
        ? i18n._(msg`Sign in with another account, or ask the owner to share it.`)
        : sentencesIn(i18n)(said)
    return { status, title: i18n._(msg`You don't have access`), message }
  }
  if (status < 500) {
    const message =
      said === null
        ? i18n._(msg`The server couldn't understand the request. Go back and try again.`)
        : sentencesIn(i18n)(said)
    return { status, title: i18n._(msg`Something went wrong`), message }
  }
  const message = i18n._(
    msg`The error has been logged. Try again in a moment. If it keeps happening, tell the administrator when it happened.`,
  )
  return { status, title: i18n._(msg`Something went wrong on our side`), message }
}

function statusOf(error: unknown): number {
  if (isRouteErrorResponse(error)) return error.status
  if (error instanceof Error && "status" in error && typeof error.status === "number") return error.status
  return 500
}

/** The URL of the page that asks for a second factor, if only that is missing. */
function secondFactorOf(error: unknown): string | null {
  const path: unknown = isRouteErrorResponse(error) ? error.data?.secondFactor : undefined
  return typeof path === "string" ? path : null
}

/** What the server said: `data("…")`, `data({ message: "…" })` or a refusal's data. */
function refusalIn(error: unknown): RefusalData | null {
  if (!isRouteErrorResponse(error)) return null
  const said: unknown = typeof error.data === "string" ? { message: error.data } : error.data
  const isRefusal = typeof said === "object" && said !== null && "message" in said
  return isRefusal && typeof said.message === "string" && said.message !== "" ? (said as RefusalData) : null
}
