import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useMutate } from "#live/react"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useAttempt } from "#app/routes/dashboard/requests/use-attempt.ts"
import { useToast } from "#app/ui/toast.tsx"
import type { TrashedFile } from "#server/files/contract.ts"
import { fileOperations } from "#server/files/operations-contract.ts"

/** Restores files from the trash, or deletes them permanently. */
export function useTrashActs() {
  const { t } = useLingui()
  const { spaceId } = usePlace()
  const mutate = useMutate()
  const toast = useToast()
  const attempt = useAttempt()
  const act = (work: () => Promise<unknown>) => void attempt(t`Something went wrong`, work)

  return {
    restore: (file: TrashedFile) =>
      act(async () => {
        const fileId = file._id
        const { fileName } = await mutate(fileOperations.restore, { fileId }, away(file))
        const undo = () => act(() => mutate(fileOperations.removeMany, { fileIds: [fileId] }))
        toast.show({ title: t`${fileName} was restored`, undo })
      }),
    purge: (file: TrashedFile) => act(() => mutate(fileOperations.purge, { fileId: file._id }, away(file))),
    /** All that were moved to the trash until a time. */
    restoreAll: (until: number) =>
      act(async () => {
        const count = await mutate(fileOperations.restoreMany, { all: { spaceId, until } })
        toast.show({
          title: t`${plural(count, { one: "# file was restored", other: "# files were restored" })}`,
        })
      }),
    empty: (until: number | undefined) =>
      act(() => mutate(fileOperations.purgeMany, { all: { spaceId, until } })),
  }
}

function away({ _id }: TrashedFile) {
  return [{ query: "files.listTrash", op: "remove", key: _id }] as const
}
