import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { useSentences } from "#app/language/sentences.ts"
import { useMutate } from "#app/realtime/use-live.tsx"
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
  const [problem, setProblem] = useState<{ id: string; said: string } | null>(null)

  const fail = (title: string) => (error: Error) =>
    void show({ tone: "danger", title, description: say(error) })

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
    mutate(fileOperations.removeMany, { fileIds }, shown).then(
      () => {
        const title = t`${plural(count, { one: `${fileName} is in the trash`, other: "# files are in the trash" })}`
        show({ title, undo: () => restore({ fileIds }, count) })
      },
      fail(t`${plural(count, { one: `${fileName} is still there`, other: "# files are still there" })}`),
    )
  }

  /** All that match, of which there are about `count`. */
  async function trashAll(all: MatchingFiles, count: number) {
    setProblem(null)
    const moved = await mutate(fileOperations.removeAll, all).catch((error: Error) => {
      fail(t`${plural(count, { one: "# file is still there", other: "# files are still there" })}`)(error)
      throw error
    })
    const title = t`${plural(moved.count, { one: "# file is in the trash", other: "# files are in the trash" })}`
    const { spaceId } = all
    const { trashedAt } = moved
    show({ title, undo: () => restore({ all: { spaceId, trashedAt } }, moved.count) })
  }

  function restore(which: SelectedTrash, count: number) {
    const title = t`${plural(count, { one: "# file is still in the trash", other: "# files are still in the trash" })}`
    mutate(fileOperations.restoreMany, which).catch(fail(title))
  }

  return {
    rename,
    trash,
    trashAll,
    problemOf: (id: string) => (problem?.id === id ? problem.said : undefined),
  }
}
