import { useLingui } from "@lingui/react/macro"
import { useRevalidator } from "react-router"
import { useMutate } from "#live/react"
import { useAttempt } from "#app/routes/dashboard/requests/use-attempt.ts"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { chatOperations } from "#server/chat/operations-contract.ts"

/** Sets whether the model replies in a conversation of a space only if it is named. */
export function useSetPeopleOnly({ _id: threadId }: ThreadSummary): (peopleOnly: boolean) => void {
  const { t } = useLingui()
  const { revalidate } = useRevalidator()
  const mutate = useMutate()
  const attempt = useAttempt()
  return (peopleOnly) => {
    const shown = { query: "chat.listThreads", op: "merge", key: threadId, row: { peopleOnly } } as const
    void attempt(t`The conversation wasn't changed`, async () => {
      await mutate(chatOperations.setPeopleOnly, { threadId, peopleOnly }, [shown])
      await revalidate()
    })
  }
}
