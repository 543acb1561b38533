import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { data, href, isRouteErrorResponse, Link, redirect } from "react-router"
import { PasswordCard } from "#app/features/links/password-card.tsx"
import { readReplies } from "#app/features/markdown/read-replies.ts"
import { ReadingsContext } from "#app/features/markdown/readings.ts"
import { ErrorPage } from "#app/features/site/error-page.tsx"
import { HomeLink } from "#app/features/site/home-link.tsx"
import { useFormats } from "#app/language/formats.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { buttonClass } from "#app/ui/button.tsx"
import type { SharedConversation, SharedMessage } from "#server/chat/contract.ts"
import { unlockThreadShare, visitThreadShare } from "#server/chat/share-visits.ts"
import { dataOf, isRefusal } from "#server/errors.ts"
import { readForm } from "#server/http/form.ts"
import { servicesOf } from "#server/http/scope.ts"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import { networkIn } from "#server/http/visit.ts"
import { UnlockLink } from "#server/links/contract.ts"
import { rateLimitHeaders } from "#server/transport/rate-limit.ts"
import { MessageList } from "./message-list.tsx"
import { useChanges } from "./use-changes.ts"
import type { Route } from "./+types/page.ts"

export const handle = { credential: "none" }

/** The URL is the secret, so it is sent to no other site and stored in no cache. */
export const headers: Route.HeadersFunction = ({ actionHeaders }) => {
  const ours = new Headers(actionHeaders)
  for (const [name, value] of Object.entries(SECRET_ADDRESS)) ours.set(name, value)
  ours.set("X-Robots-Tag", "noindex, nofollow")
  return ours
}

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const before = new URL(request.url).searchParams.get("before") ?? undefined
  const shared = await orMissing(() =>
    visitThreadShare(servicesOf(context), params.token, { request, before }),
  )
  // It is read from its beginning, so the budget goes there first.
  return {
    ...shared,
    before,
    readings: await readReplies((shared.conversation?.messages ?? []).map(asSaid).toReversed()),
  }
}

export async function action({ context, params, request }: Route.ActionArgs) {
  const form = await readForm(request, UnlockLink)
  if (!form.ok) return data({ error: Object.values(form.errors)[0] }, { status: form.status })
  const guess = { password: form.value.password, network: networkIn(context) }
  const answer = await orMissing(() => unlockThreadShare(servicesOf(context), params.token, guess))
  if ("limit" in answer) {
    const error = msg`Too many attempts. Try again in ten minutes.`
    return data({ error }, { status: 429, headers: rateLimitHeaders(answer.limit) })
  }
  if (answer.cookie === null) return data({ error: msg`That password is wrong.` }, { status: 403 })
  const set = { "Set-Cookie": answer.cookie, "Cache-Control": "no-store" }
  return redirect(href("/share/chat/:token", { token: params.token }), { status: 303, headers: set })
}

function asSaid({ role, content, isGrowing }: SharedMessage) {
  return { role, parts: [{ type: "text" as const, text: content }], status: isGrowing ? "running" : null }
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
  { title: `${loaderData?.conversation?.title ?? i18nOf(matches)._(msg`A shared conversation`)} · Tideline` },
  { name: "robots", content: "noindex, nofollow" },
]

export default function SharedConversationPage({ loaderData, actionData, params }: Route.ComponentProps) {
  const { t } = useLingui()
  const { sharedBy, conversation, before, readings } = loaderData
  if (!conversation) {
    return (
      <Frame>
        <div className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center pb-24">
          <h1 className="mb-4 text-xl font-semibold break-words">
            {sharedBy ? t`${sharedBy} shares a conversation with you` : t`A conversation is shared with you`}
          </h1>
          <PasswordCard error={actionData?.error}>
            <Trans>Show the conversation</Trans>
          </PasswordCard>
        </div>
      </Frame>
    )
  }
  return (
    <Frame>
      <ReadingsContext value={readings}>
        <Conversation {...{ sharedBy, conversation, before }} token={params.token} />
      </ReadingsContext>
    </Frame>
  )
}

interface ConversationProps {
  sharedBy: string | null
  conversation: NonNullable<SharedConversation["conversation"]>
  before: string | undefined
  token: string
}

function Conversation({ sharedBy, conversation, before, token }: ConversationProps) {
  const { t } = useLingui()
  const formats = useFormats()
  const { title, isLive, messages, earlierCursor, expiresAt } = conversation
  const follows = useChanges(isLive && !before ? href("/share/chat/:token/events", { token }) : null)
  const address = href("/share/chat/:token", { token })
  // Rendered on the server, too, which does not know the reader's time zone.
  const end = expiresAt === null ? null : formats.date(expiresAt, MINUTE)
  return (
    <div className="mx-auto w-full max-w-3xl flex-1 pb-16">
      <h1 className="text-2xl font-semibold tracking-tight break-words" dir="auto">
        {title}
      </h1>
      <p className="mt-1 mb-8 text-sm text-muted">
        {sharedBy ? t`Shared by ${sharedBy}` : t`A shared conversation`}
        {" · "}
        {isLive ? (follows ? t`Live` : t`As it is now`) : t`As it was when it was shared`}
        {end === null ? null : (
          <>
            {" · "}
            <Trans>The link works until {end} UTC.</Trans>
          </>
        )}
      </p>
      {earlierCursor ? (
        <p className="mb-6">
          <Link
            to={`${address}?before=${earlierCursor}`}
            className={buttonClass({ variant: "secondary", size: "sm" })}
          >
            <Trans>Earlier messages</Trans>
          </Link>
        </p>
      ) : null}
      <MessageList messages={messages} />
      {before ? (
        <p className="mt-8">
          <Link to={address} className={buttonClass({ variant: "secondary", size: "sm" })}>
            <Trans>Latest messages</Trans>
          </Link>
        </p>
      ) : null}
    </div>
  )
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const { t } = useLingui()
  if (!isRouteErrorResponse(error) || error.status !== 404) return <ErrorPage error={error} />
  return (
    <Frame>
      <title>{t`No such link · Tideline`}</title>
      <meta name="robots" content="noindex, nofollow" />
      <div className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center pb-24">
        <h1 className="text-xl font-semibold">
          <Trans>This link doesn't work</Trans>
        </h1>
        <p className="mt-2 text-muted">
          <Trans>Ask the person who sent it for a new one.</Trans>
        </p>
      </div>
    </Frame>
  )
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <div className="flex min-h-dvh flex-col px-5">
      <header className="py-5">
        <HomeLink />
      </header>
      <main className="flex w-full flex-1 flex-col pt-4">{children}</main>
    </div>
  )
}

const MINUTE = {
  dateStyle: "long",
  timeStyle: "short",
  timeZone: "UTC",
} satisfies Intl.DateTimeFormatOptions
