import { useLingui } from "@lingui/react/macro"
import { useRevalidator } from "react-router"
import { useMutate } from "#app/realtime/use-live.tsx"
import { useComplain } from "#app/routes/dashboard/requests/use-complain.ts"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { chatOperations } from "#server/chat/operations-contract.ts"

/** Sets whether the model replies in a conversation of a space only if it is named. */
export function useSetPeopleOnly({ _id: threadId }: ThreadSummary): (peopleOnly: boolean) => void {
  const { t } = useLingui()
  const { revalidate } = useRevalidator()
  const mutate = useMutate()
  const complain = useComplain()
  async function attempt(peopleOnly: boolean) {
    const shown = { query: "chat.listThreads", op: "merge", key: threadId, row: { peopleOnly } } as const
    try {
      await mutate(chatOperations.setPeopleOnly, { threadId, peopleOnly }, [shown])
      await revalidate()
    } catch (problem) {
      complain(t`The conversation wasn't changed`, problem)
    }
  }
  return (peopleOnly) => void attempt(peopleOnly)
}
