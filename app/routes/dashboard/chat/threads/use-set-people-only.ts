import { useLingui } from "@lingui/react/macro"
import { useRevalidator } from "react-router"
import { useSentences } from "#app/language/sentences.ts"
import { useMutate } from "#app/realtime/use-live.tsx"
import { useToast } from "#app/ui/toast.tsx"
import { chatCalls, type ThreadSummary } from "#server/chat/contract.ts"

/** Sets whether the model replies in a conversation of a space only if it is named. */
export function useSetPeopleOnly({ _id: threadId }: ThreadSummary): (peopleOnly: boolean) => void {
  const { t } = useLingui()
  const say = useSentences()
  const { revalidate } = useRevalidator()
  const mutate = useMutate()
  const toast = useToast()
  async function attempt(peopleOnly: boolean) {
    const shown = { query: "chat.listThreads", op: "merge", key: threadId, row: { peopleOnly } } as const
    try {
      await mutate(chatCalls.setPeopleOnly, { threadId, peopleOnly }, [shown])
      await revalidate()
    } catch (problem) {
      const description = problem instanceof Error ? say(problem) : t`Try again.`
      toast.show({ tone: "danger", title: t`The conversation wasn't changed`, description })
    }
  }
  return (peopleOnly) => void attempt(peopleOnly)
}
