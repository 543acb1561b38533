import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { data, href, isRouteErrorResponse, redirect } from "react-router"
import { SIGN_IN, SIGN_UP } from "#app/features/identity/addresses.ts"
import { ErrorPage } from "#app/features/site/error-page.tsx"
import { HomeLink } from "#app/features/site/home-link.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { buttonClass } from "#app/ui/button.tsx"
import { dataOf, isRefusal } from "#server/errors.ts"
import { requireScope, servicesOf, sessionOf } from "#server/http/scope.ts"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import { acceptByLink, findByLink } from "#server/spaces/invitations.ts"
import type { Route } from "./+types/page.ts"

/** An invitation to a space, for anyone with its link: it needs no JavaScript. */
export const handle = { credential: "none", static: true }

/** The URL is the secret, so it is sent to no other site and stored in no cache. */
export const headers: Route.HeadersFunction = ({ actionHeaders }) => {
  const ours = new Headers(actionHeaders)
  for (const [name, value] of Object.entries(SECRET_ADDRESS)) ours.set(name, value)
  ours.set("X-Robots-Tag", "noindex, nofollow")
  return ours
}

export async function loader({ context, params }: Route.LoaderArgs) {
  const services = servicesOf(context)
  const { spaceName, role, email } = await orMissing(() => findByLink(services, params.token))
  const { signup } = services.config.identity
  const isInvited = signup === "invited" && email !== ""
  const closed = signup === "closed" || (signup === "invited" && !isInvited) ? signup : null
  return { spaceName, role, isInvited, closed, isSignedIn: sessionOf(context) !== null }
}

/** Leads into the space, by way of onboarding for somebody who is new. */
export async function action({ context, params }: Route.ActionArgs) {
  const scope = await requireScope(context)
  const { slug } = await orMissing(() => acceptByLink(scope, params.token))
  return redirect(href("/s/:slug", { slug }), 303)
}

async function orMissing<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (!isRefusal(error)) throw error
    throw data(dataOf(error), { status: error.status })
  }
}

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  { title: `${loaderData?.spaceName ?? i18nOf(matches)._(msg`Invitation`)} · Tideline` },
  { name: "description", content: i18nOf(matches)._(msg`An invitation to a space`) },
  { name: "robots", content: "noindex, nofollow" },
]

export default function Join({ loaderData, params }: Route.ComponentProps) {
  const { spaceName, role, isInvited, closed, isSignedIn } = loaderData
  const { token } = params
  const back = new URLSearchParams({ redirect_url: href("/join/:token", { token }) })
  const join = new URLSearchParams([...back, ...(isInvited ? [["invitation", token]] : [])])
  return (
    <Frame>
      <h1 className="text-xl font-semibold wrap-anywhere">
        <Trans>You are invited to {spaceName}</Trans>
      </h1>
      <p className="mt-2 mb-6 text-muted">
        {role === "editor" ? (
          <Trans>In this space you can read and change everything that its members share.</Trans>
        ) : (
          <Trans>In this space you can read everything that its members share.</Trans>
        )}
      </p>
      {isSignedIn ? (
        <form method="post">
          <button className={buttonClass({ size: "lg" }, "w-full")}>
            <Trans>Join {spaceName}</Trans>
          </button>
        </form>
      ) : (
        <div className="flex flex-col gap-3">
          {closed ? (
            <p className="mb-2">
              {closed === "closed" ? (
                <Trans>Sign-up is closed here: you need an account to join.</Trans>
              ) : (
                <Trans>
                  You need an account to join, and this link does not let you create one. An invitation by
                  email does: ask the person who sent you the link for it.
                </Trans>
              )}
            </p>
          ) : (
            <a href={`${SIGN_UP}?${join}`} className={buttonClass({ size: "lg" })}>
              <Trans>Create an account</Trans>
            </a>
          )}
          <a
            href={`${SIGN_IN}?${back}`}
            className={buttonClass({ size: "lg", variant: closed ? "primary" : "secondary" })}
          >
            <Trans>Sign in</Trans>
          </a>
        </div>
      )}
    </Frame>
  )
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const { t } = useLingui()
  if (!isRouteErrorResponse(error) || error.status !== 404) return <ErrorPage error={error} />
  return (
    <Frame>
      <title>{t`No such invitation · Tideline`}</title>
      <meta name="robots" content="noindex, nofollow" />
      <h1 className="text-xl font-semibold">
        <Trans>This invitation doesn't work</Trans>
      </h1>
      <p className="mt-2 text-muted">
        <Trans>It has expired, was used, or was revoked. Ask the person who sent it for a new one.</Trans>
      </p>
    </Frame>
  )
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <div className="flex min-h-dvh flex-col px-5">
      <header className="py-5">
        <HomeLink />
      </header>
      <main className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center pt-4 pb-24">
        {children}
      </main>
    </div>
  )
}
