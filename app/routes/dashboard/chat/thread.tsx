import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect } from "react"
import { isRouteErrorResponse, redirect, useRevalidator } from "react-router"
import { i18nOf } from "#app/language/i18n.ts"
import { LinkButton } from "#app/ui/button.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { findThread } from "#server/chat/threads.ts"
import { liveChunks, liveMessages, liveTurns, liveWaiting } from "#server/chat/live.ts"
import { loadLive } from "#server/http/live.ts"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { findPlace } from "#server/http/place.ts"
import { requireScope } from "#server/http/scope.ts"
import { findSpace } from "#server/spaces/spaces.ts"
import { addressesIn, usePlace } from "#app/routes/dashboard/place/use-place.ts"
import type { LiveChunk } from "#server/chat/contract.ts"
import type { LiveMessage, LiveTurn, WaitingMessage } from "#server/chat/read-operations.ts"
import type { Loaded } from "#live/contract"
import { useLive, useLivePages } from "#live/react"
import { createBubbles } from "./conversation/bubbles.ts"
import { Conversation } from "./conversation/conversation.tsx"
import { ChatHeader } from "./threads/header.tsx"
import { ModelNotice } from "./composer/model-notice.tsx"
import { readReplies } from "#app/features/markdown/read-replies.ts"
import { ReadingsContext } from "#app/features/markdown/readings.ts"
import { useMarkThreadRead } from "./conversation/use-mark-read.ts"
import { useChatLayout } from "./threads/use-chat-layout.ts"
import { defer, whenRendered } from "#app/ui/defer.tsx"
import { useExchange } from "./conversation/use-exchange.ts"
import type { Route } from "./+types/thread.ts"

const WaitingLine = defer(
  () => import("./conversation/waiting-part.tsx"),
  whenRendered,
)((parts) => parts.WaitingLine)

const PresenceLine = defer(
  () => import("./conversation/presence-part.tsx"),
  whenRendered,
)((parts) => parts.PresenceLine)

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const { spaceId } = await findPlace(scope, params)
  return orErrorPage(async () => {
    const thread = await findThread(scope, params.threadId)
    if (thread.spaceId !== (spaceId ?? null)) {
      const space = thread.spaceId === null ? undefined : await findSpace(scope, thread.spaceId)
      throw redirect(addressesIn(space?.slug).threadAt(thread._id))
    }
    const args = { threadId: thread._id, spaceId }
    const [messages, turns, chunks, waiting] = await loadLive(
      scope,
      [liveMessages, args],
      [liveTurns, args],
      [liveChunks, args],
      [liveWaiting, args],
    )
    const bubbles = createBubbles()({ messages: messages.rows, turns: turns.rows, chunks: chunks.rows }, null)
    return { thread, messages, turns, chunks, waiting, readings: await readReplies(bubbles) }
  })
}

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  { title: `${loaderData?.thread.title ?? i18nOf(matches)._(msg`Not found`)} · Tideline` },
]

export default function Thread({
  loaderData: { thread: loaded, readings, ...records },
}: Route.ComponentProps) {
  const thread = useLive(useChatLayout().threads).find(({ _id }) => _id === loaded._id) ?? loaded
  useMarkThreadRead(thread)
  return (
    <>
      <ChatHeader title={thread.title} thread={thread} />
      <ModelNotice />
      <ReadingsContext value={readings}>
        <LiveConversation
          key={thread._id}
          threadId={thread._id}
          peopleOnly={thread.spaceId !== null && thread.peopleOnly}
          {...records}
        />
      </ReadingsContext>
    </>
  )
}

/**
 * Keeps the list of conversations beside the error. Errors other than 404 are left to the page
 * above.
 */
export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const { t } = useLingui()
  const { addresses, mayEdit } = usePlace()
  if (!isRouteErrorResponse(error) || error.status !== 404) throw error
  return (
    <>
      <ChatHeader title={t`Not found`} />
      <EmptyState
        icon="chat"
        title={t`Conversation not found`}
        className="m-auto"
        action={
          <LinkButton to={addresses.chat} variant="secondary" size="sm">
            {mayEdit ? t`Start a new one` : t`See the others`}
          </LinkButton>
        }
      >
        <Trans>It was deleted or moved, or it belongs to somebody else.</Trans>
      </EmptyState>
    </>
  )
}

interface LoadedConversation {
  threadId: string
  peopleOnly: boolean
  messages: Loaded<LiveMessage>
  turns: Loaded<LiveTurn>
  chunks: Loaded<LiveChunk>
  waiting: Loaded<WaitingMessage>
}

function LiveConversation({ threadId, peopleOnly, messages, turns, chunks, waiting }: LoadedConversation) {
  const { spaceId } = usePlace()
  const said = useLivePages(messages)
  const given = useLivePages(turns)
  const exchange = useExchange(threadId, { messages: said.rows, turns: given.rows, chunks: useLive(chunks) })
  useReloadWhen(said.rows.length === 0 && messages.rows.length > 0)
  const loadMore = () => {
    said.loadMore()
    // A page of turns reaches at least as far back as a page of messages, because not every message
    // is a reply.
    given.loadMore()
  }
  return (
    <Conversation
      threadId={threadId}
      peopleOnly={peopleOnly}
      exchange={exchange}
      earlier={{ ...said, loadMore }}
      line={<WaitingLine threadId={threadId} waiting={waiting} />}
      presence={spaceId === undefined ? null : <PresenceLine threadId={threadId} messages={messages} />}
    />
  )
}

/**
 * When the conversation was deleted elsewhere, its rows disappear; the loader then returns what to
 * show instead.
 */
function useReloadWhen(isGone: boolean) {
  const { revalidate } = useRevalidator()
  useEffect(() => {
    if (isGone) void revalidate()
  }, [isGone, revalidate])
}
