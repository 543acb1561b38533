import { useState } from "react"
import { useFetcher } from "react-router"
import { useMutate } from "#app/realtime/use-live.tsx"
import { useToast } from "#app/ui/toast.tsx"
import { fileCalls, type FileSummary } from "#server/files/contract.ts"

/** What the page's action says of one file. */
export interface FileAnswer {
  /** Why it did not work. */
  error?: string
}

/**
 * Renames and removes a file: shown at once on every list and taken back where the server refuses. Until the page has a live
 * connection the page's own form does it.
 */
export function useFileActs(file: FileSummary) {
  const mutate = useMutate()
  const toast = useToast()
  const renaming = useFetcher<FileAnswer>()
  const removing = useFetcher<FileAnswer>()
  const [refusal, setRefusal] = useState<string>()
  const [isRemoved, setRemoved] = useState(false)
  const saving = renaming.formData?.get("fileName")
  const args = { fileId: file._id }

  function rename(fileName: string) {
    setRefusal(undefined)
    if (!mutate) {
      void renaming.submit({ intent: "rename", id: file._id, fileName }, { method: "post" })
      return
    }
    const shown = { query: "files.list", op: "merge", key: file._id, row: { fileName } } as const
    mutate(fileCalls.rename, { ...args, fileName }, [shown]).catch((error: Error) =>
      setRefusal(error.message),
    )
  }

  function remove() {
    setRefusal(undefined)
    if (!mutate) {
      void removing.submit({ intent: "remove", id: file._id }, { method: "post" })
      return
    }
    setRemoved(true)
    mutate(fileCalls.remove, args, [{ query: "files.list", op: "remove", key: file._id }]).catch(
      (error: Error) => {
        setRemoved(false)
        // The row that was asked has gone from the screen.
        toast.show({ tone: "danger", title: `${file.fileName} is still there`, description: error.message })
      },
    )
  }

  return {
    rename,
    remove,
    /** It is on its way out; the list, when it comes, does not have it. */
    isLeaving: isRemoved || removing.state !== "idle",
    fileName: typeof saving === "string" ? saving : file.fileName,
    problem: refusal ?? renaming.data?.error ?? removing.data?.error,
  }
}
