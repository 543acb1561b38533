import { useLingui } from "@lingui/react/macro"
import { useSentences } from "#app/language/sentences.ts"
import { useToast } from "#app/ui/toast.tsx"

/** Says in a notice what could not be done, and why. */
export function useComplain(): (title: string, problem: unknown) => void {
  const { t } = useLingui()
  const say = useSentences()
  const toast = useToast()
  return (title, problem) => {
    const description = problem instanceof Error ? say(problem) : t`Try again.`
    toast.show({ tone: "danger", title, description })
  }
}
