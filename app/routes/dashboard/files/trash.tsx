import { msg, plural } from "@lingui/core/macro"
import { Plural, Trans, useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { FormNotice, PlainForm } from "#app/features/operations/plain-form.tsx"
import { useFormats } from "#app/language/formats.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { useLivePages } from "#live/react"
import { Button, buttonClass } from "#app/ui/button.tsx"
import { Dialog, DialogClose } from "#app/ui/dialog.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import type { TrashedFile } from "#server/files/contract.ts"
import { trashList } from "#server/files/live.ts"
import { fileOperations } from "#server/files/operations-contract.ts"
import { fileFunctions } from "#server/files/operations.ts"
import { loadLive } from "#server/http/live.ts"
import { performOperations } from "#server/http/perform-operations.ts"
import { findPlace } from "#server/http/place.ts"
import { requireScope } from "#server/http/scope.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
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

/** Used without JavaScript. */
export const action = performOperations(fileFunctions)

/** Deleted files, until they expire or are restored. */
export default function Trash({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
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
            <PlainForm
              of={fileOperations.restoreMany}
              values={{ all: { spaceId } }}
              next=""
              instead={() => restoreAll(newest.trashedAt)}
            >
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
            <PlainForm
              of={fileOperations.emptyTrash}
              values={{ spaceId }}
              next=""
              instead={() => setAsked("all")}
            >
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
      <FormNotice ofAll className="mt-6" />
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
  const { _id: fileId, fileName, trashedAt } = file
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
          <PlainForm of={fileOperations.restore} values={{ fileId }} next="" instead={onRestore}>
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
          <PlainForm of={fileOperations.purge} values={{ fileId }} next="" instead={onPurge}>
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
