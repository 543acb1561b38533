import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useSentences } from "#app/language/sentences.ts"
import { useMutate } from "#app/realtime/use-live.tsx"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useToast } from "#app/ui/toast.tsx"
import type { TrashedFile } from "#server/files/contract.ts"
import { fileOperations } from "#server/files/operations-contract.ts"

/** Restores files from the trash, or deletes them permanently. */
export function useTrashActs() {
  const { t } = useLingui()
  const { spaceId } = usePlace()
  const say = useSentences()
  const mutate = useMutate()
  const toast = useToast()
  const fail = (error: Error) =>
    void toast.show({ tone: "danger", title: t`Something went wrong`, description: say(error) })

  function trash({ _id }: TrashedFile) {
    mutate(fileOperations.removeMany, { fileIds: [_id] }).catch(fail)
  }

  return {
    restore(file: TrashedFile) {
      mutate(fileOperations.restore, { fileId: file._id }, away(file)).then(({ fileName }) => {
        toast.show({ title: t`${fileName} was restored`, undo: () => trash(file) })
      }, fail)
    },
    purge(file: TrashedFile) {
      mutate(fileOperations.purge, { fileId: file._id }, away(file)).catch(fail)
    },
    /** All that were moved to the trash until a time. */
    restoreAll(until: number) {
      mutate(fileOperations.restoreMany, { all: { spaceId, until } }).then((count) => {
        toast.show({
          title: t`${plural(count, { one: "# file was restored", other: "# files were restored" })}`,
        })
      }, fail)
    },
    empty(until: number | undefined) {
      mutate(fileOperations.purgeMany, { all: { spaceId, until } }).catch(fail)
    },
  }
}

function away({ _id }: TrashedFile) {
  return [{ query: "files.listTrash", op: "remove", key: _id }] as const
}
