import { plural } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useMutate } from "#app/realtime/use-live.tsx"
import { PlaceForm } from "#app/routes/dashboard/spaces/place-form.tsx"
import { usePlace } from "#app/routes/dashboard/spaces/use-place.ts"
import type { OtherPlace } from "#app/routes/dashboard/spaces/use-spaces.ts"
import { Dialog } from "#app/ui/dialog.tsx"
import { useToast } from "#app/ui/toast.tsx"
import { fileCalls, type FileSummary } from "#server/files/contract.ts"

export interface Placing {
  act: "move" | "copy"
  files: readonly FileSummary[]
}

/** Moves or copies files into a space, or out of one. */
export function PlaceFilesDialog({
  act,
  files,
  onDone,
  onClose,
}: Placing & {
  /** Called when the files were moved or copied. */
  onDone: () => void
  onClose: () => void
}) {
  const { t } = useLingui()
  const { spaceId } = usePlace()
  const mutate = useMutate()
  const { show } = useToast()
  const fileName = files[0]?.fileName
  const count = files.length

  async function place({ spaceId: to, name }: OtherPlace) {
    const fileIds = files.map(({ _id }) => _id)
    const args = { fileIds, ...(to !== undefined && { spaceId: to }) }
    await mutate(fileCalls[act], args)
    const title =
      act === "move"
        ? t`${plural(count, { one: `${fileName} is now in ${name}`, other: `# files are now in ${name}` })}`
        : t`${plural(count, { one: `${fileName} was copied to ${name}`, other: `# files were copied to ${name}` })}`
    show({ title })
    onDone()
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
