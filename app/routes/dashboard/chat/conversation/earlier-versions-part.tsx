import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useState } from "react"
import { useFormats } from "#app/language/formats.ts"
import { Button } from "#app/ui/button.tsx"
import { CopyButton } from "#app/ui/copy-button.tsx"
import { Dialog } from "#app/ui/dialog.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { chatOperations } from "#server/chat/operations-contract.ts"
import type { ReplacedEntry, ReplacedPage } from "#server/chat/read-operations.ts"
import { urlOf } from "#server/operations/contract.ts"
import { send } from "#app/routes/dashboard/requests/send.ts"
import { AttachmentList } from "#app/routes/dashboard/chat/composer/attachment-list.tsx"
import { classOfText } from "#app/features/markdown/long-run.ts"
import { Markdown } from "#app/features/markdown/markdown.tsx"

interface EarlierDialogProps {
  threadId: string
  messageId: string
  onClose: () => void
}

/** What was there before, to read and copy. */
export function EarlierDialog({ threadId, messageId, onClose }: EarlierDialogProps) {
  const { t } = useLingui()
  const { page, problem, loadMore } = useReplaced(threadId, messageId)
  const versions = Map.groupBy(page?.entries ?? [], ({ replacedAt }) => replacedAt)
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={t`Earlier versions`}
      description={t`This is what stood here before. It can be read and copied.`}
    >
      {problem ? (
        <p role="alert" className="text-sm text-danger-ink">
          {problem}
        </p>
      ) : null}
      {page || problem ? null : <Spinner label={t`Earlier versions are being loaded`} />}
      {page?.earlierCursor ? (
        <Button variant="ghost" size="sm" className="mb-4 w-full" onClick={loadMore}>
          <Trans>Show earlier messages</Trans>
        </Button>
      ) : null}
      <div className="space-y-8">
        {[...versions].map(([replacedAt, entries]) => (
          <Version key={replacedAt} replacedAt={replacedAt} entries={entries} />
        ))}
      </div>
    </Dialog>
  )
}

function Version({ replacedAt, entries }: { replacedAt: number; entries: ReplacedEntry[] }) {
  const formats = useFormats()
  const time = formats.date(replacedAt, { dateStyle: "medium", timeStyle: "short" })
  return (
    <section className="space-y-4">
      <h3 className="text-xs font-medium text-faint">
        <Trans>Until {time}</Trans>
      </h3>
      {entries.map((entry) => (
        <Replaced key={entry._id} entry={entry} />
      ))}
    </section>
  )
}

function Replaced({ entry: { role, content, attachments } }: { entry: ReplacedEntry }) {
  const { t } = useLingui()
  const isUserMessage = role === "user"
  return (
    <article aria-label={isUserMessage ? t`You` : t`Answer`} className="min-w-0">
      {attachments ? <AttachmentList attachments={attachments} className="mb-1.5 justify-end" /> : null}
      {isUserMessage ? (
        <p
          dir="auto"
          className={classOfText(
            content,
            "ml-auto w-fit max-w-[85%] rounded-xl rounded-br-sm bg-accent-soft px-4 py-2.5 [overflow-wrap:anywhere] whitespace-pre-wrap",
          )}
        >
          {content}
        </p>
      ) : (
        <Markdown text={content} />
      )}
      <div className={isUserMessage ? "flex justify-end" : "-ml-2"}>
        <CopyButton
          text={content}
          label={isUserMessage ? t`Copy message` : t`Copy reply`}
          className="size-8"
        />
      </div>
    </article>
  )
}

/**
 * Latest first. `page` holds everything loaded so far, and is null until the first page has
 * arrived.
 */
function useReplaced(threadId: string, messageId: string) {
  const { t } = useLingui()
  const [page, setPage] = useState<ReplacedPage | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [wanted, setWanted] = useState<{ before: string | null }>({ before: null })
  useEffect(() => {
    const gone = new AbortController()
    const load = async ({ before }: typeof wanted) => {
      try {
        const query = new URLSearchParams(before ? { cursor: before } : {})
        const address = `${urlOf(chatOperations.getThread, { threadId })}/messages/${messageId}/replaced?${query}`
        const { entries, earlierCursor } = await send<ReplacedPage>("GET", address, { signal: gone.signal })
        setPage((known) => ({ entries: entries.concat(before ? (known?.entries ?? []) : []), earlierCursor }))
        setProblem(null)
      } catch (error) {
        if (!gone.signal.aborted) setProblem(error instanceof Error ? error.message : t`Try again.`)
      }
    }
    void load(wanted)
    return () => gone.abort()
  }, [threadId, messageId, wanted, t])
  return { page, problem, loadMore: () => setWanted({ before: page?.earlierCursor ?? null }) }
}
