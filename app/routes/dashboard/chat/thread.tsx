import { data, href, isRouteErrorResponse } from "react-router"
import { LinkButton } from "#app/ui/button.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { findThread } from "#server/chat/threads.ts"
import { liveMessages, liveTurns } from "#server/chat/live.ts"
import { listMessages } from "#server/chat/messages.ts"
import { loadLive } from "#server/http/live.ts"
import { requireScope } from "#server/http/scope.ts"
import { isRefusal } from "#server/errors.ts"
import { useLive } from "#app/realtime/use-live.tsx"
import { Conversation } from "./conversation.tsx"
import { ChatHeader } from "./header.tsx"
import { ModelNotice } from "./model-notice.tsx"
import { ThreadMenu } from "./thread-menu.tsx"
import { useLiveEntries } from "./use-live-entries.ts"
import type { Route } from "./+types/thread.ts"

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  try {
    const thread = await findThread(scope, params.threadId)
    const conversation = { threadId: thread._id }
    const [page, [messages, turns]] = await Promise.all([
      listMessages(scope, thread._id),
      loadLive(scope, [liveMessages, conversation], [liveTurns, conversation]),
    ])
    return { thread, page, messages, turns }
  } catch (error) {
    throw isRefusal(error) ? data(error.message, { status: error.status }) : error
  }
}

export const meta: Route.MetaFunction = ({ loaderData }) => [
  { title: `${loaderData?.thread.title ?? "Not found"} · Tideline` },
]

export default function Thread({ loaderData: { thread, page, messages, turns } }: Route.ComponentProps) {
  const entries = useLiveEntries(useLive(messages), useLive(turns))
  return (
    <>
      <ChatHeader title={thread.title}>
        <ThreadMenu thread={thread} />
      </ChatHeader>
      <ModelNotice />
      <Conversation key={thread._id} threadId={thread._id} page={{ ...page, entries }} />
    </>
  )
}

/** The list of conversations stays beside it. Anything but a conversation that is not there is the whole page's concern. */
export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  if (!isRouteErrorResponse(error) || error.status !== 404) throw error
  return (
    <>
      <ChatHeader title="Not found" />
      <EmptyState
        icon="chat"
        title="This conversation is not here"
        className="m-auto"
        action={
          <LinkButton to={href("/dashboard/chat")} variant="secondary" size="sm">
            Start a new one
          </LinkButton>
        }
      >
        It was deleted, or it belongs to somebody else.
      </EmptyState>
    </>
  )
}
