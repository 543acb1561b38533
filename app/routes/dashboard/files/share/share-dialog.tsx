import { plural } from "@lingui/core/macro"
import { Plural, Trans, useLingui } from "@lingui/react/macro"
import { useId, useRef, useState, type FormEvent } from "react"
import { href } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { useSentences } from "#app/language/sentences.ts"
import { useLive, useMutate } from "#app/realtime/use-live.tsx"
import { Badge } from "#app/ui/badge.tsx"
import { Button } from "#app/ui/button.tsx"
import { Dialog } from "#app/ui/dialog.tsx"
import { Field } from "#app/ui/field.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import {
  fileCalls,
  SHARE_PASSWORD_LIMIT,
  type FileSummary,
  type NewShare,
  type ShareSummary,
} from "#server/files/contract.ts"
import { send } from "#app/routes/dashboard/send.ts"

const DAY = 24 * 60 * 60 * 1000

/** Creates public links to a file, lists them with how often they were used, and revokes them. */
export function ShareDialog({ file, now, onClose }: { file: FileSummary; now: number; onClose: () => void }) {
  const { t } = useLingui()
  const { fileName } = file
  const [made, setMade] = useState<NewShare | null>(null)
  const links = useLive<ShareSummary>({
    query: "files.listShares",
    args: { fileId: file._id },
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
              <LinkRow key={link._id} link={link} now={now} />
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
        <SelectField label={t`Expires after`} name="days" defaultValue="7">
          <option value="1">{t`1 day`}</option>
          <option value="7">{t`7 days`}</option>
          <option value="30">{t`30 days`}</option>
          <option value="365">{t`1 year`}</option>
          <option value="">{t`Never`}</option>
        </SelectField>
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
      <Field
        label={t`Password`}
        name="password"
        type="password"
        autoComplete="new-password"
        maxLength={SHARE_PASSWORD_LIMIT}
        placeholder={t`None`}
        hint={t`Send it separately from the link.`}
        error={error}
      />
      <div className="flex justify-end">
        <Button type="submit" pending={pending}>
          <Trans>Create link</Trans>
        </Button>
      </div>
    </form>
  )
}

function createLink(fileId: string, form: FormData): Promise<NewShare> {
  const days = Number(form.get("days"))
  const downloads = Number(form.get("maxDownloads"))
  const password = form.get("password")
  return send("POST", href("/api/files/:fileId/shares", { fileId }), {
    body: {
      expiresAt: days > 0 ? Date.now() + days * DAY : null,
      maxDownloads: downloads > 0 ? downloads : null,
      password: password === "" ? null : password,
    },
  })
}

/** The URL of the new link, which is never shown again. */
function NewLink({ url, onMore }: { url: string; onMore: () => void }) {
  const { t } = useLingui()
  const input = useRef<HTMLInputElement>(null)
  const [isCopied, setCopied] = useState(false)
  const id = useId()
  async function copy() {
    input.current?.select()
    await navigator.clipboard.writeText(url)
    setCopied(true)
  }
  return (
    <div>
      <label htmlFor={id} className="text-sm font-medium">
        <Trans>The link</Trans>
      </label>
      <div className="mt-1.5 flex gap-2">
        <input
          ref={input}
          id={id}
          readOnly
          value={url}
          autoFocus
          onFocus={({ currentTarget }) => {
            currentTarget.select()
            // The beginning of the URL shows that it is the right one.
            requestAnimationFrame(() => {
              currentTarget.scrollLeft = 0
            })
          }}
          aria-describedby={`${id}-hint`}
          className="h-10 min-w-0 flex-1 rounded-md border border-line-strong bg-sunken px-3 font-mono text-sm"
        />
        <Button onClick={() => void copy().catch(() => input.current?.select())}>
          <Icon name={isCopied ? "check" : "copy"} />
          {isCopied ? t`Copied` : t`Copy`}
        </Button>
      </div>
      <p id={`${id}-hint`} className="mt-1.5 text-sm text-muted">
        <Trans>Copy it now: it won't be shown again.</Trans>
      </p>
      <p role="status" className="sr-only">
        {isCopied ? t`Link copied.` : ""}
      </p>
      <Button variant="ghost" size="sm" className="mt-3 -ml-3" onClick={onMore}>
        <Icon name="plus" />
        <Trans>Create another link</Trans>
      </Button>
    </div>
  )
}

function LinkRow({ link, now }: { link: ShareSummary; now: number }) {
  const { t } = useLingui()
  const say = useSentences()
  const formats = useFormats()
  const mutate = useMutate()
  const [problem, setProblem] = useState<string>()
  const { expiresAt, maxDownloads, downloads, hint } = link
  const isOver =
    (expiresAt !== null && expiresAt <= now) || (maxDownloads !== null && downloads >= maxDownloads)
  const uses =
    maxDownloads === null
      ? t`${plural(downloads, { one: "# download", other: "# downloads" })}`
      : t`${downloads} of ${maxDownloads} downloads`
  const until = expiresAt === null ? null : formats.date(expiresAt, DATE)
  const end = until === null ? t`no end` : t`until ${until}`
  function revoke() {
    const shown = { query: "files.listShares", op: "remove", key: link._id } as const
    mutate(fileCalls.revokeShare, { shareId: link._id }, [shown]).catch((error: Error) =>
      setProblem(say(error)),
    )
  }
  return (
    <li className="flex items-center gap-3 rounded-md py-1.5 text-sm">
      <Icon name={link.hasPassword ? "lock" : "link"} className="text-faint" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-mono">…{hint}</span>
          {isOver ? (
            <Badge tone="warning">
              <Trans>Over</Trans>
            </Badge>
          ) : null}
          {link.hasPassword ? (
            <Badge>
              <Trans>Password</Trans>
            </Badge>
          ) : null}
        </p>
        <p className="text-faint tabular-nums">
          {uses} · {end} ·{" "}
          <Trans context="link">
            made <RelativeTime at={link._creationTime} now={now} />
          </Trans>
        </p>
        {problem ? (
          <p role="alert" className="text-danger-ink">
            {problem}
          </p>
        ) : null}
      </div>
      <Button
        variant="ghost"
        size="sm"
        aria-label={t`Revoke the link ending in ${hint}`}
        onClick={revoke}
        className="text-danger-ink"
      >
        <Trans>Revoke</Trans>
      </Button>
    </li>
  )
}

const DATE = { day: "numeric", month: "short", year: "numeric" } as const
