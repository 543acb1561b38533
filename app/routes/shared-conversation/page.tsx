import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link } from "react-router"
import { PasswordCard } from "#app/features/links/password-card.tsx"
import { readReplies } from "#app/features/markdown/read-replies.ts"
import { ReadingsContext } from "#app/features/markdown/readings.ts"
import { useFormats } from "#app/language/formats.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { DeadLink, LinkFrame } from "#app/routes/share/frame.tsx"
import { secretHeaders, unlock } from "#app/routes/share/gate.ts"
import { buttonClass } from "#app/ui/button.tsx"
import type { SharedConversation, SharedMessage } from "#server/chat/contract.ts"
import { visitThreadShare } from "#server/chat/share-visits.ts"
import { threadLinks } from "#server/chat/shares.ts"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { servicesOf } from "#server/http/scope.ts"
import { MessageList } from "./message-list.tsx"
import { useChanges } from "./use-changes.ts"
import type { Route } from "./+types/page.ts"

export const handle = { credential: "none" }

export const headers: Route.HeadersFunction = secretHeaders

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const before = new URL(request.url).searchParams.get("before") ?? undefined
  const shared = await orErrorPage(() =>
    visitThreadShare(servicesOf(context), params.token, { request, before }),
  )
  // It is read from its beginning, so the budget goes there first.
  return {
    ...shared,
    before,
    readings: await readReplies((shared.conversation?.messages ?? []).map(asSaid).toReversed()),
  }
}

export async function action(visit: Route.ActionArgs) {
  return unlock(threadLinks, visit)
}

function asSaid({ role, content, isGrowing }: SharedMessage) {
  return { role, parts: [{ type: "text" as const, text: content }], status: isGrowing ? "running" : null }
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
      <LinkFrame>
        <h1 className="mb-4 text-xl font-semibold break-words">
          {sharedBy
            ? t`${sharedBy} shared a conversation with you`
            : t`Somebody shared a conversation with you`}
        </h1>
        <PasswordCard error={actionData?.error}>
          <Trans>Show the conversation</Trans>
        </PasswordCard>
      </LinkFrame>
    )
  }
  return (
    <LinkFrame width="full">
      <ReadingsContext value={readings}>
        <Conversation {...{ sharedBy, conversation, before }} token={params.token} />
      </ReadingsContext>
    </LinkFrame>
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
  return <DeadLink error={error} />
}

const MINUTE = {
  dateStyle: "long",
  timeStyle: "short",
  timeZone: "UTC",
} satisfies Intl.DateTimeFormatOptions
