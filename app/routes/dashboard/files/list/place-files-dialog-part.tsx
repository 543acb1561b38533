import { plural } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useMutate } from "#live/react"
import { PlaceForm } from "#app/routes/dashboard/place/place-form.tsx"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import type { OtherPlace } from "#app/routes/dashboard/place/use-spaces.ts"
import { useAttempt } from "#app/routes/dashboard/requests/use-attempt.ts"
import { Dialog } from "#app/ui/dialog.tsx"
import { useToast } from "#app/ui/toast.tsx"
import type { MatchingFiles } from "#server/files/acts-contract.ts"
import type { FileSummary } from "#server/files/contract.ts"
import { fileOperations } from "#server/files/operations-contract.ts"

export interface Placing {
  act: "move" | "copy"
  files: readonly FileSummary[]
  count: number
  /** All that match, in place of the files. */
  everything: MatchingFiles | null
}

/** Moves or copies files into a space, or out of one. */
export function PlaceFilesDialog({
  act,
  files,
  count,
  everything,
  onDone,
  onClose,
}: Placing & {
  /** Called when the files were moved or copied. */
  onDone: () => void
  onClose: () => void
}) {
  const { t } = useLingui()
  const attempt = useAttempt()
  const { spaceId } = usePlace()
  const mutate = useMutate()
  const { show } = useToast()
  const fileName = files[0]?.fileName

  async function place({ spaceId: to, name }: OtherPlace) {
    const which = everything ? { all: everything } : { fileIds: files.map(({ _id }) => _id) }
    const placed = await mutate(fileOperations[act], { ...which, ...(to !== undefined && { spaceId: to }) })
    const title =
      act === "move"
        ? t`${plural(placed, { one: `${fileName} is now in ${name}`, other: `# files are now in ${name}` })}`
        : t`${plural(placed, { one: `${fileName} was copied to ${name}`, other: `# files were copied to ${name}` })}`
    const moved = act === "move" && "fileIds" in which ? which.fileIds : null
    show({ title, ...(moved && { undo: () => moveBack(moved, name) }) })
    onDone()
  }

  function moveBack(fileIds: string[], from: string) {
    const stay = t`${plural(fileIds.length, { one: `${fileName} is still in ${from}`, other: `# files are still in ${from}` })}`
    void attempt(stay, () =>
      mutate(fileOperations.move, { fileIds, ...(spaceId !== undefined && { spaceId }) }),
    )
  }
  const title =
    act === "move"
      ? t`${plural(count, { one: `Move ${fileName}`, other: "Move # files" })}`
      : t`${plural(count, { one: `Copy ${fileName}`, other: "Copy # files" })}`
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title={title}
      description={
        act === "copy" ? (
          <Trans>
            All members of a space can open what is in it. The storage counts for the space's owner.
          </Trans>
        ) : spaceId === undefined ? (
          <Trans>
            All members of a space can open what is in it, and its editors can change it. The storage counts
            for the space's owner. Public links keep working.
          </Trans>
        ) : (
          <Trans>
            What you move disappears here for everybody. Public links that you created keep working, those of
            others stop.
          </Trans>
        )
      }
    >
      <PlaceForm
        submit={act === "move" ? t({ message: "Move", context: "to another place" }) : t`Copy`}
        onPlace={place}
      />
    </Dialog>
  )
}
