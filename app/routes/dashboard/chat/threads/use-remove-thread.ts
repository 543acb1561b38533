import { useLingui } from "@lingui/react/macro"
import { useNavigate, useParams, useRevalidator } from "react-router"
import { useMutate } from "#app/realtime/use-live.tsx"
import { useToast } from "#app/ui/toast.tsx"
import { useComplain } from "#app/routes/dashboard/requests/use-complain.ts"
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
  const complain = useComplain()
  const named = { threadId: thread._id }
  const { addresses } = usePlace()

  async function remove() {
    const isOpen = threadId === thread._id
    const shown = { query: "chat.listThreads", op: "remove", key: thread._id } as const
    try {
      const removed = mutate(chatOperations.removeThread, named, [shown])
      if (isOpen) await navigate(addresses.chat, { replace: true })
      await removed
      toast.show({ title: t`Conversation deleted`, undo: () => void restore(isOpen) })
    } catch (problem) {
      const { title } = thread
      complain(t`“${title}” wasn't deleted`, problem)
    }
  }

  async function restore(wasOpen: boolean) {
    try {
      await mutate(chatOperations.restoreThread, named)
      if (wasOpen) await navigate(addresses.threadAt(thread._id))
      else await revalidate()
    } catch (problem) {
      complain(t`The conversation couldn't be restored`, problem)
    }
  }

  return () => void remove()
}
