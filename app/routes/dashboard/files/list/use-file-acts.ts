import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { useSentences } from "#app/language/sentences.ts"
import { useMutate } from "#app/realtime/use-live.tsx"
import { useToast } from "#app/ui/toast.tsx"
import { fileCalls, type FileSummary } from "#server/files/contract.ts"
import type { FilePageStore } from "./file-pages.ts"

export type FileActs = ReturnType<typeof useFileActs>

/**
 * Renames files, and moves them into the trash and back. Changes are shown on every list
 * immediately, and reverted if the server refuses them.
 */
export function useFileActs(store: FilePageStore, isLive: boolean) {
  const { t } = useLingui()
  const say = useSentences()
  const mutate = useMutate()
  const { show } = useToast()
  const [problem, setProblem] = useState<{ id: string; said: string } | null>(null)

  /**
   * Replaces the optimistic changes by the server's state, on the pages behind the first as well.
   */
  function readAgain() {
    if (isLive) store.age()
    else void store.reread()
  }

  function rename({ _id, fileName: before }: FileSummary, fileName: string) {
    setProblem(null)
    const change = (name: string) =>
      store.patch((file) => (file._id === _id ? { ...file, fileName: name } : file))
    change(fileName)
    const shown = { query: "files.list", op: "merge", key: _id, row: { fileName } } as const
    mutate(fileCalls.rename, { fileId: _id, fileName }, [shown]).then(readAgain, (error: Error) => {
      change(before)
      setProblem({ id: _id, said: say(error) })
    })
  }

  function trash(files: readonly FileSummary[]) {
    setProblem(null)
    const fileIds = files.map(({ _id }) => _id)
    const gone = new Set(fileIds)
    store.patch((file) => (gone.has(file._id) ? null : file))
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
        readAgain()
      },
      (error: Error) => {
        readAgain()
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
    mutate(fileCalls.restoreMany, { fileIds }).then(readAgain, fail)
  }

  return {
    rename,
    trash,
    problemOf: (id: string) => (problem?.id === id ? problem.said : undefined),
  }
}
