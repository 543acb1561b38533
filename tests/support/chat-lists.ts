import type { ThreadSummary } from "#server/chat/contract.ts"
import type { WaitingMessage } from "#server/chat/read-operations.ts"
import type { Scope } from "#server/scope.ts"
import { callOperation } from "./call-operation.ts"

type Caller = Scope<"db" | "viewer">

// An operation that is found by its name has lost its types.

/** As HTTP lists conversations: a page, or all of them without a limit. */
export async function listThreads(
  scope: Caller,
  query: { spaceId?: string | undefined; cursor?: string | undefined; limit?: number } = {},
) {
  return (await callOperation("chat.listThreads", scope, query)) as {
    threads: ThreadSummary[]
    nextCursor: string | null
  }
}

/** The messages that wait in a conversation, the first in line first. */
export async function listWaiting(scope: Caller, threadId: string): Promise<WaitingMessage[]> {
  const { waiting } = (await callOperation("chat.listWaiting", scope, { threadId })) as {
    waiting: WaitingMessage[]
  }
  return waiting
}
