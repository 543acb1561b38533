import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, redirect } from "react-router"
import { SIGN_IN, SIGN_UP } from "#app/features/identity/addresses.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { DeadLink, LinkFrame } from "#app/routes/share/frame.tsx"
import { secretHeaders } from "#app/routes/share/gate.ts"
import { buttonClass } from "#app/ui/button.tsx"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { requireScope, servicesOf, sessionOf } from "#server/http/scope.ts"
import { acceptByLink, findByLink } from "#server/spaces/invitations.ts"
import type { Route } from "./+types/page.ts"

/** An invitation to a space, for anyone with its link: it needs no JavaScript. */
export const handle = { credential: "none", static: true }

export const headers: Route.HeadersFunction = secretHeaders

export async function loader({ context, params }: Route.LoaderArgs) {
  const services = servicesOf(context)
  const { spaceName, role, email } = await orErrorPage(() => findByLink(services, params.token))
  const { signup } = services.config.identity
  const isInvited = signup === "invited" && email !== ""
  const closed = signup === "closed" || (signup === "invited" && !isInvited) ? signup : null
  return { spaceName, role, isInvited, closed, isSignedIn: sessionOf(context) !== null }
}

/** Leads into the space, by way of onboarding for somebody who is new. */
export async function action({ context, params }: Route.ActionArgs) {
  const scope = await requireScope(context)
  const { slug } = await orErrorPage(() => acceptByLink(scope, params.token))
  return redirect(href("/s/:slug", { slug }), 303)
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
    <LinkFrame>
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
              <Trans>Sign up</Trans>
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
    </LinkFrame>
  )
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const { t } = useLingui()
  return (
    <DeadLink error={error} title={t`No such invitation · Tideline`}>
      <h1 className="text-xl font-semibold">
        <Trans>This invitation doesn't work</Trans>
      </h1>
      <p className="mt-2 text-muted">
        <Trans>It has expired, was used, or was revoked. Ask the person who sent it for a new one.</Trans>
      </p>
    </DeadLink>
  )
}
