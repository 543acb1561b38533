import { Trans, useLingui } from "@lingui/react/macro"
import { useNavigate, useParams, useRevalidator } from "react-router"
import { useMutate } from "#live/react"
import { PlaceForm } from "#app/routes/dashboard/place/place-form.tsx"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import type { OtherPlace } from "#app/routes/dashboard/place/use-spaces.ts"
import { Checkbox } from "#app/ui/checkbox.tsx"
import { Dialog } from "#app/ui/dialog.tsx"
import { useToast } from "#app/ui/toast.tsx"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { chatOperations } from "#server/chat/operations-contract.ts"

interface PlaceThreadDialogProps {
  act: "move" | "copy"
  thread: Pick<ThreadSummary, "_id" | "title">
  onClose: () => void
}

/** Moves or copies a conversation into a space, or out of one. */
export function PlaceThreadDialog({ act, thread, onClose }: PlaceThreadDialogProps) {
  const { t } = useLingui()
  const { title } = thread
  const { spaceId } = usePlace()
  const place = usePlacing(act, thread, onClose)
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title={act === "move" ? t`Move “${title}”` : t`Copy “${title}”`}
      description={
        <>
          {spaceId === undefined ? (
            <Trans>
              In a space, all of its members can read the whole conversation. What the model found in your
              files and conversations isn't shown there, but its replies are.
            </Trans>
          ) : act === "move" ? (
            <Trans>It disappears here for everybody.</Trans>
          ) : (
            <Trans>In a personal copy, messages of others begin with their names.</Trans>
          )}{" "}
          {act === "move" ? <Trans>Public links to it stop working.</Trans> : null}
        </>
      }
    >
      <PlaceForm
        submit={act === "move" ? t({ message: "Move", context: "to another place" }) : t`Copy`}
        onPlace={place}
      >
        <Checkbox
          name="attachments"
          defaultChecked
          label={t`Copy attached files along`}
          hint={t`Otherwise they are taken off the messages.`}
          className="mt-4"
        />
      </PlaceForm>
    </Dialog>
  )
}

function usePlacing(
  act: PlaceThreadDialogProps["act"],
  { _id: threadId, title }: PlaceThreadDialogProps["thread"],
  onClose: () => void,
) {
  const { t } = useLingui()
  const mutate = useMutate()
  const navigate = useNavigate()
  const { revalidate } = useRevalidator()
  const { threadId: openId } = useParams()
  const { show } = useToast()
  return async ({ spaceId, name, addresses }: OtherPlace, form: FormData) => {
    const attachments = form.has("attachments") ? "copy" : "leave"
    const args = { threadId, attachments, ...(spaceId !== undefined && { spaceId }) } as const
    await mutate(act === "move" ? chatOperations.moveThread : chatOperations.copyThread, args)
    show({ title: act === "move" ? t`“${title}” is now in ${name}` : t`“${title}” was copied to ${name}` })
    onClose()
    if (act === "move" && openId === threadId) await navigate(addresses.threadAt(threadId), { replace: true })
    else await revalidate()
  }
}
