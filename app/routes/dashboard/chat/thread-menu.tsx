import { useState } from "react"
import { href, useNavigate, useParams, useRevalidator } from "react-router"
import { Button } from "#app/ui/button.tsx"
import { Dialog, DialogClose } from "#app/ui/dialog.tsx"
import { Field } from "#app/ui/field.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Menu, MenuItem, MenuSeparator } from "#app/ui/menu.tsx"
import { useMutate } from "#app/realtime/use-live.tsx"
import { useToast } from "#app/ui/toast.tsx"
import { chatCalls, TITLE_LIMIT, type ThreadSummary } from "#server/chat/contract.ts"
import { send } from "./ask.ts"
import { writeDraft } from "./drafts.ts"

type Act = "rename" | "delete"

export function ThreadMenu({ thread }: { thread: ThreadSummary }) {
  const [act, setAct] = useState<Act | null>(null)
  const close = () => setAct(null)
  return (
    <>
      <Menu
        trigger={
          <Button variant="ghost" size="icon" className="size-8" aria-label={`More about ${thread.title}`}>
            <Icon name="more" />
          </Button>
        }
      >
        <MenuItem icon="edit" onSelect={() => setAct("rename")}>
          Rename
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon="trash" tone="danger" onSelect={() => setAct("delete")}>
          Delete
        </MenuItem>
      </Menu>
      {act === "rename" ? <RenameDialog thread={thread} onClose={close} /> : null}
      {act === "delete" ? <DeleteDialog thread={thread} onClose={close} /> : null}
    </>
  )
}

interface DialogProps {
  thread: ThreadSummary
  onClose: () => void
}

function RenameDialog({ thread, onClose }: DialogProps) {
  const { revalidate } = useRevalidator()
  const mutate = useMutate()
  const { run, pending, error } = useAct(onClose)
  const rename = (title: string) =>
    run(async () => {
      const shown = { query: "chat.listThreads", op: "merge", key: thread._id, row: { title } } as const
      if (mutate) await mutate(chatCalls.renameThread, { threadId: thread._id, title }, [shown])
      else await send("PATCH", `/api/chat/threads/${thread._id}`, { title })
      await revalidate()
    })
  return (
    <Dialog open onOpenChange={onClose} title="Rename the conversation">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const title = new FormData(event.currentTarget).get("title")
          if (typeof title === "string") rename(title)
        }}
      >
        <Field
          label="Title"
          name="title"
          defaultValue={thread.title}
          maxLength={TITLE_LIMIT}
          required
          error={error}
          autoComplete="off"
        />
        <div className="mt-6 flex justify-end gap-2">
          <DialogClose render={<Button variant="ghost">Cancel</Button>} />
          <Button type="submit" pending={pending}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function DeleteDialog({ thread, onClose }: DialogProps) {
  const { threadId } = useParams()
  const navigate = useNavigate()
  const { revalidate } = useRevalidator()
  const mutate = useMutate()
  const toast = useToast()
  const { run, pending, error } = useAct(onClose)
  const remove = () =>
    run(async () => {
      const shown = { query: "chat.listThreads", op: "remove", key: thread._id } as const
      if (mutate) await mutate(chatCalls.removeThread, { threadId: thread._id }, [shown]).catch(sayStillThere)
      else await send("DELETE", `/api/chat/threads/${thread._id}`)
      writeDraft(thread._id, "")
      if (threadId === thread._id) await navigate(href("/dashboard/chat"), { replace: true })
      else await revalidate()
      toast.show({ title: "Conversation deleted" })
    })
  /** The row under which this dialog was opened has gone from the list meanwhile, and the dialog with it. */
  function sayStillThere(problem: Error): never {
    toast.show({ tone: "danger", title: `“${thread.title}” is still there`, description: problem.message })
    throw problem
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Delete the conversation?"
      description={`“${thread.title}” and all its messages will be gone. This cannot be undone.`}
      actions={
        <>
          <DialogClose render={<Button variant="ghost">Cancel</Button>} />
          <Button variant="danger" pending={pending} onClick={remove}>
            Delete
          </Button>
        </>
      }
    >
      {error ? (
        <p role="alert" className="text-sm text-danger-ink">
          {error}
        </p>
      ) : null}
    </Dialog>
  )
}

/** Runs what a dialog is for: closes it when that worked, and says what went wrong when it did not. */
function useAct(onDone: () => void) {
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<string>()
  async function attempt(act: () => Promise<void>) {
    setPending(true)
    setError(undefined)
    try {
      await act()
      onDone()
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : "That did not work. Try again.")
      setPending(false)
    }
  }
  return { run: (act: () => Promise<void>) => void attempt(act), pending, error }
}
