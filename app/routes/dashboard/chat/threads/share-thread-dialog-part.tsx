import { Plural, Trans, useLingui } from "@lingui/react/macro"
import { useState, type FormEvent } from "react"
import { href } from "react-router"
import { ExpiryField, LinkPasswordField, readLinkLimits } from "#app/features/links/link-fields.tsx"
import { LinkRow } from "#app/features/links/link-row.tsx"
import { NewLink } from "#app/features/links/new-link.tsx"
import { useLive, useMutate } from "#app/realtime/use-live.tsx"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { send } from "#app/routes/dashboard/requests/send.ts"
import { Button } from "#app/ui/button.tsx"
import { Dialog } from "#app/ui/dialog.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import {
  chatCalls,
  type NewThreadShare,
  type ThreadShareSummary,
  type ThreadSummary,
} from "#server/chat/contract.ts"

interface ShareThreadDialogProps {
  thread: Pick<ThreadSummary, "_id" | "title">
  onClose: () => void
}

/** Creates public links to a conversation, lists them, and revokes them. */
export function ShareThreadDialog({ thread, onClose }: ShareThreadDialogProps) {
  const { t } = useLingui()
  const { _id: threadId, title } = thread
  const { spaceId } = usePlace()
  const [now] = useState(() => Date.now())
  const [made, setMade] = useState<NewThreadShare | null>(null)
  const links = useLive<ThreadShareSummary>({
    query: "chat.listShares",
    args: { threadId, spaceId },
    rows: [],
    order: [["_id", "desc"]],
    end: null,
  })
  const count = links.length
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title={t`Share “${title}”`}
      description={t`Anyone with the link can read this conversation without an account. Attached files aren't shared, only their names.`}
      className="sm:max-w-lg!"
    >
      {made ? (
        <NewLink url={made.url} onMore={() => setMade(null)} />
      ) : (
        <LinkForm threadId={threadId} onMade={setMade} />
      )}
      {links.length > 0 ? (
        <section aria-labelledby="links" className="mt-6 border-t border-line pt-4">
          <h3 id="links" className="text-sm font-medium">
            <Plural value={count} one="# link to this conversation" other="# links to this conversation" />
          </h3>
          <ul className="mt-2 grid gap-1">
            {links.map((link) => (
              <ThreadLinkRow key={link._id} link={link} now={now} />
            ))}
          </ul>
        </section>
      ) : null}
    </Dialog>
  )
}

function LinkForm({ threadId, onMade }: { threadId: string; onMade: (made: NewThreadShare) => void }) {
  const { t } = useLingui()
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<string>()

  async function make(form: FormData) {
    setPending(true)
    setError(undefined)
    try {
      const body = { ...readLinkLimits(form), shows: form.get("shows") }
      onMade(await send("POST", href("/api/chat/threads/:threadId/shares", { threadId }), { body }))
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : t`Something went wrong. Try again.`)
      setPending(false)
    }
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault()
        if (!pending) void make(new FormData(event.currentTarget))
      }}
    >
      <div className="grid gap-4 sm:grid-cols-[3fr_2fr]">
        <SelectField label={t`Visitors see`} name="shows" defaultValue="live">
          <option value="live">{t`All messages, including new ones`}</option>
          <option value="copy">{t`The messages so far`}</option>
        </SelectField>
        <ExpiryField />
      </div>
      <LinkPasswordField error={error} />
      <div className="flex justify-end">
        <Button type="submit" pending={pending}>
          <Trans>Create link</Trans>
        </Button>
      </div>
    </form>
  )
}

function ThreadLinkRow({ link, now }: { link: ThreadShareSummary; now: number }) {
  const { t } = useLingui()
  const mutate = useMutate()
  const shown = { query: "chat.listShares", op: "remove", key: link._id } as const
  return (
    <LinkRow
      link={link}
      now={now}
      about={link.shows === "live" ? t`live` : t`as it was`}
      onRevoke={() => mutate(chatCalls.revokeShare, { shareId: link._id }, [shown])}
    />
  )
}
