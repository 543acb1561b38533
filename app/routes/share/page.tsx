import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { data, href, isRouteErrorResponse, redirect } from "react-router"
import { PasswordCard } from "#app/features/links/password-card.tsx"
import { HomeLink } from "#app/features/site/home-link.tsx"
import { ErrorPage } from "#app/features/site/error-page.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { dataOf, isRefusal } from "#server/errors.ts"
import { UnlockLink } from "#server/links/contract.ts"
import { unlockShare, visitShare } from "#server/files/share-visits.ts"
import { readForm } from "#server/http/form.ts"
import { rateLimitHeaders } from "#server/transport/rate-limit.ts"
import { servicesOf } from "#server/http/scope.ts"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import { networkIn } from "#server/http/visit.ts"
import { SharedFileCard } from "./shared-file-card.tsx"
import type { Route } from "./+types/page.ts"

/** A file and a download link: it needs no JavaScript. */
export const handle = { credential: "none", static: true }

/** The URL is the secret, so it is sent to no other site and stored in no cache. */
export const headers: Route.HeadersFunction = ({ actionHeaders }) => {
  const ours = new Headers(actionHeaders)
  for (const [name, value] of Object.entries(SECRET_ADDRESS)) ours.set(name, value)
  ours.set("X-Robots-Tag", "noindex, nofollow")
  return ours
}

export async function loader({ context, params, request }: Route.LoaderArgs) {
  return orMissing(() => visitShare(servicesOf(context), params.token, request))
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const form = await readForm(request, UnlockLink)
  if (!form.ok) return data({ error: Object.values(form.errors)[0] }, { status: form.status })
  const guess = { password: form.value.password, network: networkIn(context) }
  const answer = await orMissing(() => unlockShare(services, params.token, guess, request))
  if ("limit" in answer) {
    const error = msg`Too many attempts. Try again in ten minutes.`
    return data({ error }, { status: 429, headers: rateLimitHeaders(answer.limit) })
  }
  if (answer.cookie === null) return data({ error: msg`That password is wrong.` }, { status: 403 })
  const headersOfAnswer = { "Set-Cookie": answer.cookie, "Cache-Control": "no-store" }
  return redirect(href("/share/:token", { token: params.token }), { status: 303, headers: headersOfAnswer })
}

/** Turns every refusal into an error page with the refusal's status. */
async function orMissing<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (!isRefusal(error)) throw error
    throw data(dataOf(error), { status: error.status })
  }
}

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  { title: `${loaderData?.file?.fileName ?? i18nOf(matches)._(msg`A shared file`)} · Tideline` },
  { name: "description", content: i18nOf(matches)._(msg`A file is shared with you`) },
  { name: "robots", content: "noindex, nofollow" },
]

export default function Share({ loaderData, actionData, params }: Route.ComponentProps) {
  const { t } = useLingui()
  const { sharedBy, file } = loaderData
  return (
    <Frame>
      <h1 className="mb-4 text-xl font-semibold break-words">
        {sharedBy ? t`${sharedBy} shares a file with you` : t`A file is shared with you`}
      </h1>
      {file ? (
        <SharedFileCard file={file} address={href("/share/:token/download", { token: params.token })} />
      ) : (
        <PasswordCard error={actionData?.error}>
          <Trans>Show the file</Trans>
        </PasswordCard>
      )}
    </Frame>
  )
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const { t } = useLingui()
  if (!isRouteErrorResponse(error) || error.status !== 404) return <ErrorPage error={error} />
  return (
    <Frame>
      <title>{t`No such link · Tideline`}</title>
      <meta name="robots" content="noindex, nofollow" />
      <h1 className="text-xl font-semibold">
        <Trans>This link doesn't work</Trans>
      </h1>
      <p className="mt-2 text-muted">
        <Trans>Ask the person who sent it for a new one.</Trans>
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
