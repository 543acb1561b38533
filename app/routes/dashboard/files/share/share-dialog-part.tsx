import { plural } from "@lingui/core/macro"
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
import { Field } from "#app/ui/field.tsx"
import { fileCalls } from "#server/files/acts-contract.ts"
import type { FileSummary, NewShare, ShareSummary } from "#server/files/contract.ts"

/** Creates public links to a file, lists them with how often they were used, and revokes them. */
export function ShareDialog({ file, now, onClose }: { file: FileSummary; now: number; onClose: () => void }) {
  const { t } = useLingui()
  const { fileName } = file
  const { spaceId } = usePlace()
  const [made, setMade] = useState<NewShare | null>(null)
  const links = useLive<ShareSummary>({
    query: "files.listShares",
    args: { fileId: file._id, spaceId },
    rows: [],
    order: [["_id", "desc"]],
    end: null,
  })
  const count = links.length
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title={t`Share ${fileName}`}
      description={t`Anyone with the link can see and download this file without an account.`}
      className="sm:max-w-lg!"
    >
      {made ? (
        <NewLink url={made.url} onMore={() => setMade(null)} />
      ) : (
        <LinkForm fileId={file._id} onMade={setMade} />
      )}
      {links.length > 0 ? (
        <section aria-labelledby="links" className="mt-6 border-t border-line pt-4">
          <h3 id="links" className="text-sm font-medium">
            <Plural value={count} one="# link to this file" other="# links to this file" />
          </h3>
          <ul className="mt-2 grid gap-1">
            {links.map((link) => (
              <FileLinkRow key={link._id} link={link} now={now} />
            ))}
          </ul>
        </section>
      ) : null}
    </Dialog>
  )
}

function LinkForm({ fileId, onMade }: { fileId: string; onMade: (made: NewShare) => void }) {
  const { t } = useLingui()
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<string>()

  async function make(form: FormData) {
    setPending(true)
    setError(undefined)
    try {
      onMade(await createLink(fileId, form))
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
      <div className="grid gap-4 sm:grid-cols-2">
        <ExpiryField />
        <Field
          label={t`Download limit`}
          name="maxDownloads"
          type="number"
          inputMode="numeric"
          min={1}
          max={1_000_000}
          step={1}
          placeholder={t`No limit`}
        />
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

function createLink(fileId: string, form: FormData): Promise<NewShare> {
  const downloads = Number(form.get("maxDownloads"))
  return send("POST", href("/api/files/:fileId/shares", { fileId }), {
    body: { ...readLinkLimits(form), maxDownloads: downloads > 0 ? downloads : null },
  })
}

function FileLinkRow({ link, now }: { link: ShareSummary; now: number }) {
  const { t } = useLingui()
  const mutate = useMutate()
  const { maxDownloads, downloads } = link
  const uses =
    maxDownloads === null
      ? t`${plural(downloads, { one: "# download", other: "# downloads" })}`
      : t`${downloads} of ${maxDownloads} downloads`
  const shown = { query: "files.listShares", op: "remove", key: link._id } as const
  return (
    <LinkRow
      link={link}
      now={now}
      about={uses}
      isUsedUp={maxDownloads !== null && downloads >= maxDownloads}
      onRevoke={() => mutate(fileCalls.revokeShare, { shareId: link._id }, [shown])}
    />
  )
}
