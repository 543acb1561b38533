import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { useSentences } from "#app/language/sentences.ts"
import { useMutate } from "#live/react"
import { useAttempt } from "#app/routes/dashboard/requests/use-attempt.ts"
import { useToast } from "#app/ui/toast.tsx"
import type { MatchingFiles, SelectedTrash } from "#server/files/acts-contract.ts"
import type { FileSummary } from "#server/files/contract.ts"
import { fileOperations } from "#server/files/operations-contract.ts"

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
  const attempt = useAttempt()
  const [problem, setProblem] = useState<{ id: string; said: string } | null>(null)

  function rename({ _id }: FileSummary, fileName: string) {
    setProblem(null)
    const shown = { query: "files.list", op: "merge", key: _id, row: { fileName } } as const
    mutate(fileOperations.rename, { fileId: _id, fileName }, [shown]).catch((error: Error) =>
      setProblem({ id: _id, said: say(error) }),
    )
  }

  function trash(files: readonly FileSummary[]) {
    setProblem(null)
    const fileIds = files.map(({ _id }) => _id)
    const shown = fileIds.map((key) => ({ query: "files.list", op: "remove", key }) as const)
    const count = files.length
    const fileName = files[0]?.fileName
    const stays = t`${plural(count, { one: `${fileName} is still there`, other: "# files are still there" })}`
    void attempt(stays, async () => {
      await mutate(fileOperations.removeMany, { fileIds }, shown)
      const title = t`${plural(count, { one: `${fileName} is in the trash`, other: "# files are in the trash" })}`
      show({ title, undo: () => restore({ fileIds }, count) })
    })
  }

  /** All that match, of which there are about `count`. Resolves with whether they were moved. */
  function trashAll(all: MatchingFiles, count: number): Promise<boolean> {
    setProblem(null)
    const stays = t`${plural(count, { one: "# file is still there", other: "# files are still there" })}`
    return attempt(stays, async () => {
      const moved = await mutate(fileOperations.removeAll, all)
      const title = t`${plural(moved.count, { one: "# file is in the trash", other: "# files are in the trash" })}`
      const { spaceId } = all
      const { trashedAt } = moved
      show({ title, undo: () => restore({ all: { spaceId, trashedAt } }, moved.count) })
    })
  }

  function restore(which: SelectedTrash, count: number) {
    const stays = t`${plural(count, { one: "# file is still in the trash", other: "# files are still in the trash" })}`
    void attempt(stays, () => mutate(fileOperations.restoreMany, which))
  }

  return {
    rename,
    trash,
    trashAll,
    problemOf: (id: string) => (problem?.id === id ? problem.said : undefined),
  }
}
