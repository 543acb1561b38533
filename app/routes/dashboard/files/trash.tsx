import { useState, type ReactNode } from "react"
import { data, redirect } from "react-router"
import { literal, object, picklist, string, variant } from "valibot"
import { useLivePages, useMutate } from "#app/realtime/use-live.tsx"
import { Alert } from "#app/ui/alert.tsx"
import { Button, buttonClass } from "#app/ui/button.tsx"
import { Dialog, DialogClose } from "#app/ui/dialog.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { useToast } from "#app/ui/toast.tsx"
import { fileCalls, formatBytes, type TrashedFile } from "#server/files/contract.ts"
import { findUsage } from "#server/files/files.ts"
import { trashList } from "#server/files/live.ts"
import { emptyTrash, purgeFile, restoreFile } from "#server/files/trash.ts"
import { isRefusal } from "#server/errors.ts"
import { readForm } from "#server/http/form.ts"
import { loadLive } from "#server/http/live.ts"
import { requireScope } from "#server/http/scope.ts"
import { Page, PageHead } from "../page.tsx"
import { useReload } from "../use-reload.ts"
import { useReloadWith } from "../use-reload-with.ts"
import { iconOf } from "./file-picture.tsx"
import { UsageMeter } from "./usage-meter.tsx"
import type { Route } from "./+types/trash.ts"

const DAY = 24 * 60 * 60 * 1000

export const meta: Route.MetaFunction = () => [{ title: "Trash · Tideline" }]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const [[trash], usage] = await Promise.all([loadLive(scope, [trashList, {}]), findUsage(scope)])
  return { trash, usage, days: scope.config.files.trashDays, now: Date.now() }
}

const TrashForm = variant("intent", [
  object({ intent: picklist(["restore", "purge"]), id: string() }),
  object({ intent: literal("empty") }),
])

/** Without JavaScript, and until the page has a live connection. */
export async function action({ context, request, url }: Route.ActionArgs) {
  const scope = await requireScope(context)
  const form = await readForm(request, TrashForm)
  if (!form.ok) return data({ error: Object.values(form.errors).join(" ") }, { status: form.status })
  try {
    if (form.value.intent === "empty") await emptyTrash(scope)
    else if (form.value.intent === "restore") await restoreFile(scope, form.value.id)
    else await purgeFile(scope, form.value.id)
    return redirect(url.pathname)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return data({ error: error.message }, { status: error.status })
  }
}

/** What was deleted, until its time is over or somebody wants it back. */
export default function Trash({ loaderData, actionData }: Route.ComponentProps) {
  const { trash, usage, days, now } = loaderData
  const { rows, hasMore, isLoading, loadMore } = useLivePages<TrashedFile>(trash, (after) => ({ after }))
  useReloadWith(rows)
  const { restore, purge, empty } = useTrashActs()
  const [asked, setAsked] = useState<TrashedFile | "all" | null>(null)

  return (
    <Page>
      <PageHead title="Trash" above={[{ to: "/dashboard/files", label: "Files" }]}>
        {rows.length > 0 ? (
          <PlainForm intent="empty" onSubmit={() => setAsked("all")}>
            <button className={buttonClass({ variant: "secondary" })}>
              <Icon name="trash" />
              <span>
                Empty<span className="max-sm:hidden"> the trash</span>
              </span>
            </button>
          </PlainForm>
        ) : null}
      </PageHead>
      <UsageMeter usage={{ ...usage, trashed: 0 }} />
      {actionData?.error ? (
        <Alert tone="danger" title="That did not work" className="mt-6">
          {actionData.error}
        </Alert>
      ) : null}
      {rows.length === 0 ? (
        <EmptyState
          icon="trash"
          title="The trash is empty"
          className="mt-6 rounded-lg border border-dashed border-line-strong sm:py-24"
        >
          What you delete is kept here for {days} days, in case you want it back.
        </EmptyState>
      ) : (
        <>
          <p className="mt-6 text-sm text-muted">
            Files are kept here for {days} days and then deleted for ever. Until then they count towards your
            room: {formatBytes(usage.trashed)} of {formatBytes(usage.quota)}.
          </p>
          <ul
            aria-label="Files in the trash"
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
                Show more
              </Button>
            </div>
          ) : null}
        </>
      )}
      <PurgeDialog
        asked={asked}
        onClose={() => setAsked(null)}
        onPurge={() => {
          if (asked === "all") empty()
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
  const { fileName, trashedAt } = file
  const left = Math.max(0, Math.ceil((trashedAt + days * DAY - now) / DAY))
  return (
    <li className="flex min-h-15 items-center gap-3.5 py-1.5 pr-2 pl-4 sm:pr-3">
      <span className="grid size-10 shrink-0 place-items-center rounded-md border border-line bg-sunken text-faint">
        <Icon name={iconOf(file.mimeType)} />
      </span>
      <div className="min-w-0 flex-1 text-sm">
        <p className="truncate font-medium" title={fileName}>
          {fileName}
        </p>
        <p className="truncate text-faint tabular-nums">
          {formatBytes(file.size)} ·{" "}
          <span className="max-sm:hidden">
            deleted <RelativeTime at={trashedAt} now={now} /> ·{" "}
          </span>
          {left === 0 ? "gone today" : left === 1 ? "1 day left" : `${left} days left`}
        </p>
      </div>
      <PlainForm intent="restore" id={file._id} onSubmit={onRestore}>
        <button
          className={buttonClass({ variant: "secondary", size: "sm" })}
          aria-label={`Restore ${fileName}`}
        >
          <Icon name="undo" />
          <span className="max-sm:hidden">Restore</span>
        </button>
      </PlainForm>
      <PlainForm intent="purge" id={file._id} onSubmit={onPurge}>
        <button
          className={buttonClass({ variant: "ghost", size: "icon" })}
          aria-label={`Delete ${fileName} for ever`}
          title="Delete for ever"
        >
          <Icon name="x" />
        </button>
      </PlainForm>
    </li>
  )
}

/** Works by itself without JavaScript; with it, `onSubmit` does. */
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
  if (!asked) return null
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title={asked === "all" ? "Empty the trash?" : `Delete ${asked.fileName} for ever?`}
      description="Nobody can bring it back, and links to it stop working."
      actions={
        <>
          <DialogClose render={<Button variant="secondary">Keep it</Button>} />
          <Button variant="danger" onClick={onPurge}>
            {asked === "all" ? "Empty the trash" : "Delete for ever"}
          </Button>
        </>
      }
    />
  )
}

function useTrashActs() {
  const mutate = useMutate()
  const toast = useToast()
  const fail = (error: Error) =>
    void toast.show({ tone: "danger", title: "That did not work", description: error.message })
  const done = useReload()

  function trash({ _id }: TrashedFile) {
    mutate?.(fileCalls.removeMany, { fileIds: [_id] }).then(done, fail)
  }

  return {
    restore(file: TrashedFile) {
      mutate?.(fileCalls.restore, { fileId: file._id }, away(file)).then(({ fileName }) => {
        toast.show({ title: `${fileName} is back among your files`, undo: () => trash(file) })
        done()
      }, fail)
    },
    purge(file: TrashedFile) {
      mutate?.(fileCalls.purge, { fileId: file._id }, away(file)).then(done, fail)
    },
    empty() {
      mutate?.(fileCalls.emptyTrash, {}).then(done, fail)
    },
  }
}

function away({ _id }: TrashedFile) {
  return [{ query: "files.listTrash", op: "remove", key: _id }] as const
}
