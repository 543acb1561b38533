import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { useSentences } from "#app/language/sentences.ts"
import { useMutate } from "#app/realtime/use-live.tsx"
import { useToast } from "#app/ui/toast.tsx"
import { fileCalls, type FileSummary } from "#server/files/contract.ts"

export type FileActs = ReturnType<typeof useFileActs>

/**
 * Renames files, and moves them into the trash and back. Changes are shown on every list
 * immediately, and reverted if the server refuses them.
 */
export function useFileActs() {
  const { t } = useLingui()
  const say = useSentences()
  const mutate = useMutate()
  const { show } = useToast()
  const [problem, setProblem] = useState<{ id: string; said: string } | null>(null)

  function rename({ _id }: FileSummary, fileName: string) {
    setProblem(null)
    const shown = { query: "files.list", op: "merge", key: _id, row: { fileName } } as const
    mutate(fileCalls.rename, { fileId: _id, fileName }, [shown]).catch((error: Error) =>
      setProblem({ id: _id, said: say(error) }),
    )
  }

  function trash(files: readonly FileSummary[]) {
    setProblem(null)
    const fileIds = files.map(({ _id }) => _id)
    const shown = fileIds.map((key) => ({ query: "files.list", op: "remove", key }) as const)
    const count = files.length
    const fileName = files[0]?.fileName
    mutate(fileCalls.removeMany, { fileIds }, shown).then(
      () => {
        const title = t`${plural(count, {
          one: `${fileName} is in the trash`,
          other: "# files are in the trash",
        })}`
        show({ title, undo: () => restore(files) })
      },
      (error: Error) => {
        const title = t`${plural(count, {
          one: `${fileName} is still there`,
          other: "# files are still there",
        })}`
        show({ tone: "danger", title, description: say(error) })
      },
    )
  }

  function restore(files: readonly FileSummary[]) {
    const count = files.length
    const fileName = files[0]?.fileName
    const fail = (error: Error) => {
      const title = t`${plural(count, {
        one: `${fileName} is still in the trash`,
        other: "# files are still in the trash",
      })}`
      show({ tone: "danger", title, description: say(error) })
    }
    const fileIds = files.map(({ _id }) => _id)
    mutate(fileCalls.restoreMany, { fileIds }).catch(fail)
  }

  return {
    rename,
    trash,
    problemOf: (id: string) => (problem?.id === id ? problem.said : undefined),
  }
}
