import { data } from "react-router"
import { findThread } from "#server/chat/threads.ts"
import { listMessages } from "#server/chat/messages.ts"
import { requireScope } from "#server/http/scope.ts"
import { isRefusal } from "#server/errors.ts"
import { Conversation } from "./conversation.tsx"
import { ChatHeader } from "./header.tsx"
import { ModelNotice } from "./model-notice.tsx"
import { ThreadMenu } from "./thread-menu.tsx"
import type { Route } from "./+types/thread.ts"

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  try {
    const thread = await findThread(scope, params.threadId)
    return { thread, page: await listMessages(scope, thread._id) }
  } catch (error) {
    throw isRefusal(error) ? data(error.message, { status: error.status }) : error
  }
}

export const meta: Route.MetaFunction = ({ loaderData }) => [
  { title: `${loaderData?.thread.title ?? "Not found"} · Tideline` },
]

export default function Thread({ loaderData: { thread, page } }: Route.ComponentProps) {
  return (
    <>
      <ChatHeader title={thread.title}>
        <ThreadMenu thread={thread} />
      </ChatHeader>
      <ModelNotice />
      <Conversation key={thread._id} threadId={thread._id} page={page} />
    </>
  )
}
