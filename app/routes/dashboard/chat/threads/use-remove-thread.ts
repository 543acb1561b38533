import { useLingui } from "@lingui/react/macro"
import { useNavigate, useParams, useRevalidator } from "react-router"
import { useMutate } from "#live/react"
import { useToast } from "#app/ui/toast.tsx"
import { useAttempt } from "#app/routes/dashboard/requests/use-attempt.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { chatOperations } from "#server/chat/operations-contract.ts"

/** Deletes a conversation immediately, and offers to undo it. */
export function useRemoveThread(thread: ThreadSummary): () => void {
  const { t } = useLingui()
  const { threadId } = useParams()
  const navigate = useNavigate()
  const { revalidate } = useRevalidator()
  const mutate = useMutate()
  const toast = useToast()
  const attempt = useAttempt()
  const named = { threadId: thread._id }
  const { addresses } = usePlace()

  async function remove() {
    const isOpen = threadId === thread._id
    const { title } = thread
    const shown = { query: "chat.listThreads", op: "remove", key: thread._id } as const
    const isRemoved = await attempt(t`“${title}” wasn't deleted`, async () => {
      const removed = mutate(chatOperations.removeThread, named, [shown])
      if (isOpen) await navigate(addresses.chat, { replace: true })
      await removed
    })
    if (isRemoved) toast.show({ title: t`Conversation deleted`, undo: () => void restore(isOpen) })
  }

  function restore(wasOpen: boolean) {
    return attempt(t`The conversation couldn't be restored`, async () => {
      await mutate(chatOperations.restoreThread, named)
      if (wasOpen) await navigate(addresses.threadAt(thread._id))
      else await revalidate()
    })
  }

  return () => void remove()
}
