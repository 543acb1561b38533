import { useLingui } from "@lingui/react/macro"
import { useSentences } from "#app/language/sentences.ts"
import { useToast } from "#app/ui/toast.tsx"

/**
 * Returns a function that does something, and says in a notice with this title why it could not be
 * done. Resolves with whether it was done.
 */
export function useAttempt(): (title: string, act: () => Promise<unknown>) => Promise<boolean> {
  const { t } = useLingui()
  const say = useSentences()
  const toast = useToast()
  return async (title, act) => {
    try {
      await act()
      return true
    } catch (problem) {
      const description = problem instanceof Error ? say(problem) : t`Try again.`
      toast.show({ tone: "danger", title, description })
      return false
    }
  }
}
