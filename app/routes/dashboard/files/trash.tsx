import { msg, plural } from "@lingui/core/macro"
import { Plural, Trans, useLingui } from "@lingui/react/macro"
import { useState, type ReactNode } from "react"
import { data, redirect } from "react-router"
import * as v from "valibot"
import { useFormats } from "#app/language/formats.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { useSentences } from "#app/language/sentences.ts"
import { useLivePages } from "#live/react"
import { Alert } from "#app/ui/alert.tsx"
import { Button, buttonClass } from "#app/ui/button.tsx"
import { Dialog, DialogClose } from "#app/ui/dialog.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import type { TrashedFile } from "#server/files/contract.ts"
import { trashList } from "#server/files/live.ts"
import { restoreFile, restoreFiles } from "#server/files/restore.ts"
import { emptyTrash, purgeFile } from "#server/files/trash.ts"
import { dataOf, isRefusal } from "#server/errors.ts"
import { readForm } from "#server/http/form.ts"
import { loadLive } from "#server/http/live.ts"
import { findPlace } from "#server/http/place.ts"
import { requireScope } from "#server/http/scope.ts"
import { addressesIn, usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { limitsOf } from "#server/plans/limits.ts"
import { Page, PageHead } from "#app/ui/page.tsx"
import { CutName } from "#app/routes/dashboard/place/cut-name.tsx"
import { iconOf } from "./list/file-thumbnail.tsx"
import { loadUsage } from "./list/load-usage.ts"
import { PlaceUsage } from "./list/usage-meter.tsx"
import { useTrashActs } from "./list/use-trash-acts.ts"
import { useUsage } from "./list/use-usage.ts"
import type { Route } from "./+types/trash.ts"

const DAY = 24 * 60 * 60 * 1000

export const meta: Route.MetaFunction = ({ matches }) => [{ title: i18nOf(matches)._(msg`Trash · Tideline`) }]

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const { spaceId } = await findPlace(scope, params)
  const [[trash], usage] = await Promise.all([
    loadLive(scope, [trashList, { spaceId }]),
    loadUsage(scope, spaceId),
  ])
  const limits = limitsOf(scope.config, scope.viewer.session)
  return { ...usage, trash, limits, days: scope.config.files.trashDays, now: Date.now() }
}

const TrashForm = v.variant("intent", [
  v.object({ intent: v.picklist(["restore", "purge"]), id: v.string() }),
  v.object({ intent: v.literal("restoreAll") }),
  v.object({ intent: v.literal("empty") }),
])

/** Used without JavaScript. */
export async function action({ context, params, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  const { spaceId } = await findPlace(scope, params)
  const form = await readForm(request, TrashForm)
  if (!form.ok) return data({ error: Object.values(form.errors)[0] }, { status: form.status })
  try {
    if (form.value.intent === "empty") await emptyTrash(scope, { spaceId })
    else if (form.value.intent === "restoreAll") await restoreFiles(scope, { all: { spaceId } })
    else if (form.value.intent === "restore") await restoreFile(scope, form.value.id)
    else await purgeFile(scope, form.value.id)
    return redirect(addressesIn(params.slug).trash)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return data({ error: dataOf(error) }, { status: error.status })
  }
}

/** Deleted files, until they expire or are restored. */
export default function Trash({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  const say = useSentences()
  const formats = useFormats()
  const { trash, stored, days, now } = loaderData
  const { spaceId, mayEdit, isPaid, addresses } = usePlace()
  const usage = useUsage(loaderData.usage, loaderData.limits)
  const { rows, hasMore, isLoading, loadMore } = useLivePages<TrashedFile>(trash, (after) => ({
    spaceId,
    after,
  }))
  const { restore, restoreAll, purge, empty } = useTrashActs()
  // What is moved to the trash later is not part of what is done with all that is shown.
  const [newest] = rows
  const [asked, setAsked] = useState<TrashedFile | "all" | null>(null)
  const trashed = formats.bytes((stored ?? usage).trashed)
  const quota = formats.bytes(usage.quota)

  return (
    <Page>
      <PageHead title={t`Trash`} above={[{ to: addresses.files, label: t`Files` }]}>
        {newest && mayEdit ? (
          <>
            <PlainForm intent="restoreAll" onSubmit={() => restoreAll(newest.trashedAt)}>
              <button
                className={buttonClass({ variant: "secondary" }, "max-sm:px-3")}
                aria-label={t`Restore everything`}
              >
                <Icon name="undo" />
                <span className="max-sm:hidden">
                  <Trans>Restore everything</Trans>
                </span>
              </button>
            </PlainForm>
            <PlainForm intent="empty" onSubmit={() => setAsked("all")}>
              <button className={buttonClass({ variant: "secondary" })}>
                <Icon name="trash" />
                <span className="sm:hidden">
                  <Trans context="verb">Empty</Trans>
                </span>
                <span className="max-sm:hidden">
                  <Trans>Empty the trash</Trans>
                </span>
              </button>
            </PlainForm>
          </>
        ) : null}
      </PageHead>
      <PlaceUsage {...loaderData} usage={usage} trash={null} />
      {actionData?.error ? (
        <Alert tone="danger" title={t`Something went wrong`} className="mt-6">
          {say(actionData.error)}
        </Alert>
      ) : null}
      {rows.length === 0 ? (
        <EmptyState
          icon="trash"
          title={t`The trash is empty`}
          className="mt-6 rounded-lg border border-dashed border-line-strong sm:py-24"
        >
          <Trans>
            Deleted files are kept here for <Plural value={days} one="# day" other="# days" />, in case you
            want them back.
          </Trans>
        </EmptyState>
      ) : (
        <>
          <p className="mt-6 text-sm text-muted">
            {isPaid ? (
              <Trans>
                Files are kept here for <Plural value={days} one="# day" other="# days" /> and then deleted
                permanently. Until then they count towards your storage: {trashed} of {quota}.
              </Trans>
            ) : (
              <Trans>
                Files are kept here for <Plural value={days} one="# day" other="# days" /> and then deleted
                permanently.
              </Trans>
            )}
          </p>
          <ul
            aria-label={t`Files in the trash`}
            className="mt-4 divide-y divide-line rounded-lg border border-line bg-surface shadow-sm"
          >
            {rows.map((file) => (
              <TrashRow
                key={file._id}
                file={file}
                now={now}
                days={days}
                onRestore={() => restore(file)}
                onPurge={() => setAsked(file)}
              />
            ))}
          </ul>
          {hasMore ? (
            <div className="mt-5 flex justify-center">
              <Button variant="secondary" size="sm" pending={isLoading} onClick={loadMore}>
                <Trans>Show more</Trans>
              </Button>
            </div>
          ) : null}
        </>
      )}
      <PurgeDialog
        asked={asked}
        onClose={() => setAsked(null)}
        onPurge={() => {
          if (asked === "all") empty(newest?.trashedAt)
          else if (asked) purge(asked)
          setAsked(null)
        }}
      />
    </Page>
  )
}

function TrashRow({
  file,
  now,
  days,
  onRestore,
  onPurge,
}: {
  file: TrashedFile
  now: number
  days: number
  onRestore: () => void
  onPurge: () => void
}) {
  const { t } = useLingui()
  const formats = useFormats()
  const { mayEdit } = usePlace()
  const { fileName, trashedAt } = file
  const left = Math.max(0, Math.ceil((trashedAt + days * DAY - now) / DAY))
  return (
    <li className="flex min-h-15 items-center gap-3.5 py-1.5 pr-2 pl-4 sm:pr-3">
      <span className="grid size-10 shrink-0 place-items-center rounded-md border border-line bg-sunken text-faint">
        <Icon name={iconOf(file)} />
      </span>
      <div className="min-w-0 flex-1 text-sm">
        <p dir="auto" className="font-medium" title={fileName}>
          <CutName name={fileName} />
        </p>
        <p className="truncate text-faint tabular-nums">
          {formats.bytes(file.size)} ·{" "}
          <span className="max-sm:hidden">
            <Trans>
              deleted <RelativeTime at={trashedAt} now={now} />
            </Trans>{" "}
            ·{" "}
          </span>
          {t`${plural(left, { 0: "deleted today", one: "# day left", other: "# days left" })}`}
        </p>
      </div>
      {mayEdit ? (
        <>
          <PlainForm intent="restore" id={file._id} onSubmit={onRestore}>
            <button
              className={buttonClass({ variant: "secondary", size: "sm" })}
              aria-label={t`Restore ${fileName}`}
            >
              <Icon name="undo" />
              <span className="max-sm:hidden">
                <Trans>Restore</Trans>
              </span>
            </button>
          </PlainForm>
          <PlainForm intent="purge" id={file._id} onSubmit={onPurge}>
            <button
              className={buttonClass({ variant: "ghost", size: "sm" })}
              aria-label={t`Delete forever: ${fileName}`}
            >
              <Icon name="x" />
              <span className="max-sm:hidden">
                <Trans>Delete forever</Trans>
              </span>
            </button>
          </PlainForm>
        </>
      ) : null}
    </li>
  )
}

/** Submits natively without JavaScript; with it, `onSubmit` handles it. */
function PlainForm({
  intent,
  id,
  onSubmit,
  children,
}: {
  intent: string
  id?: string
  onSubmit: () => void
  children: ReactNode
}) {
  return (
    <form
      method="post"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <input type="hidden" name="intent" value={intent} />
      {id ? <input type="hidden" name="id" value={id} /> : null}
      {children}
    </form>
  )
}

function PurgeDialog({
  asked,
  onClose,
  onPurge,
}: {
  asked: TrashedFile | "all" | null
  onClose: () => void
  onPurge: () => void
}) {
  const { t } = useLingui()
  if (!asked) return null
  const fileName = asked === "all" ? "" : asked.fileName
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title={asked === "all" ? t`Empty the trash?` : t`Delete ${fileName} forever?`}
      description={t`It can't be recovered, and links to it stop working.`}
      actions={
        <>
          <DialogClose
            render={
              <Button variant="secondary">
                <Trans>Keep it</Trans>
              </Button>
            }
          />
          <Button variant="danger" onClick={onPurge}>
            {asked === "all" ? t`Empty the trash` : t`Delete forever`}
          </Button>
        </>
      }
    />
  )
}
