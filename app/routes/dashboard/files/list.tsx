import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { data, redirect } from "react-router"
import { FormNotice } from "#app/features/operations/plain-form.tsx"
import { useFormats } from "#app/language/formats.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { buttonClass, LinkButton } from "#app/ui/button.tsx"
import { defer, whenRendered } from "#app/ui/defer.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { ListFiles, type FileSummary } from "#server/files/contract.ts"
import { takeFiles } from "#server/files/incoming.ts"
import { cursorAfter, listFiles } from "#server/files/list.ts"
import { fileList } from "#server/files/live.ts"
import { fileFunctions } from "#server/files/operations.ts"
import { uploadFile } from "#server/files/upload.ts"
import { dataOf, isRefusal } from "#server/errors.ts"
import { loadLive } from "#server/http/live.ts"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { performOperations } from "#server/http/perform-operations.ts"
import { findPlace } from "#server/http/place.ts"
import { pageQueryOf } from "#server/http/query.ts"
import { requireScope } from "#server/http/scope.ts"
import { addressesIn, usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Loaded } from "#live/contract"
import { Page, PageHead } from "#app/ui/page.tsx"
import { Browser } from "./list/browser.tsx"
import { DropZone } from "./upload/drop-zone.tsx"
import { RENDERED_BY_SERVER } from "./list/file-list.tsx"
import { StorageFull } from "./upload/storage-full.tsx"
import { UploadButton } from "./upload/upload-button.tsx"
import { uploadQueue } from "./upload/upload-queue.ts"
import { UploadPanel } from "./upload/upload-panel.tsx"
import type { Chosen } from "./upload/upload.ts"
import { filteredPage } from "./list/filtered-page.ts"
import { loadRevisions, loadUsage } from "./list/load-usage.ts"
import { PlaceUsage } from "./list/usage-meter.tsx"
import { useUploads } from "./upload/use-uploads.ts"
import { useUsage } from "./list/use-usage.ts"
import type { Route } from "./+types/list.ts"

const UploadsOfOthers = defer(
  () => import("./upload/uploads-of-others-part.tsx"),
  whenRendered,
)((parts) => parts.UploadsOfOthers)

export const meta: Route.MetaFunction = ({ matches }) => [{ title: i18nOf(matches)._(msg`Files · Tideline`) }]

/**
 * Loads the newest files as live rows, and anything else (other orders, searches, filters) as a
 * plain response.
 */
export async function loader({ context, params, url }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const { spaceId, isPaid } = await findPlace(scope, params)
  const query = pageQueryOf(ListFiles, {
    limit: "100",
    ...Object.fromEntries(url.searchParams),
    spaceId,
  })
  const isLive = query.sort === "newest" && !query.q && !query.type && !query.cursor
  const revisions = loadRevisions(scope, spaceId)
  // What no live query has is read after its revision, so that what changes in between is not missed.
  const list = isLive ? findNewest(scope, spaceId) : revisions.then(() => findFiltered(scope, query))
  const [usage, rows] = await Promise.all([loadUsage(scope, spaceId, revisions), list])
  const plan = limitsOf(scope.config, scope.viewer.session)
  // The owner's plan decides in a space, and only the owner knows it.
  const maxSize = isPaid ? plan.largestFile : null
  const nextPage = nextPageOf(rows)
  const formKey = crypto.randomUUID()
  return { ...usage, formKey, list: rows, isLive, nextPage, query, plan, maxSize, now: Date.now() }
}

async function findNewest(
  scope: Parameters<typeof loadLive>[0],
  spaceId: string | undefined,
): Promise<Loaded<FileSummary>> {
  const [list] = await loadLive(scope, [fileList, { spaceId }])
  return list
}

/** A cursor that no list has given is refused. */
async function findFiltered(scope: Parameters<typeof listFiles>[0], query: ListFiles) {
  return filteredPage({ ...query, from: 0 }, await orErrorPage(() => listFiles(scope, query)))
}

/** The cursor of what a browser without JavaScript shows next. */
function nextPageOf({ rows, end }: Loaded<FileSummary>): string | null {
  const drawn = rows.slice(0, RENDERED_BY_SERVER)
  const last = drawn.length < rows.length || end !== null ? drawn.at(-1) : undefined
  return last ? cursorAfter(last) : null
}

const perform = performOperations(fileFunctions)

/** Used without JavaScript. */
export async function action(asked: Route.ActionArgs) {
  const { context, params, request, url } = asked
  if (!request.headers.get("content-type")?.startsWith("multipart/form-data")) return perform(asked)
  const scope = await requireScope(context)
  const { spaceId } = await findPlace(scope, params)
  try {
    await takeFiles(request, (file) => uploadFile(scope, file, { spaceId }))
    // Redirects, because reloading a page rendered for a POST would send the form again.
    return redirect(addressesIn(params.slug).files + url.search)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return data({ operation: "", values: "", errors: { form: dataOf(error) } }, { status: error.status })
  }
}

export default function Files({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { list, isLive, nextPage, query, maxSize, now } = loaderData
  const { spaceId, mayEdit, isPaid, addresses } = usePlace()
  const usage = useUsage(loaderData.usage, loaderData.plan)
  const uploads = useUploads()
  const limits = { maxSize: maxSize ?? Infinity, freeSpace: isPaid ? usage.quota - usage.used : Infinity }
  const upload = (chosen: readonly Chosen[]) => uploadQueue.add(chosen, limits, spaceId)

  return (
    <Page>
      {mayEdit ? <DropZone onFiles={upload} /> : null}
      <PageHead title={t`Files`}>
        <LinkButton to={addresses.trash} variant="ghost" aria-label={t`Trash`} className="max-sm:px-3">
          <Icon name="trash" />
          <span className="max-sm:hidden">
            <Trans>Trash</Trans>
          </span>
        </LinkButton>
        {mayEdit ? <UploadButton onFiles={upload}>{t`Upload`}</UploadButton> : null}
      </PageHead>
      <PlaceUsage {...loaderData} usage={usage} trash={addresses.trash} />
      {mayEdit ? <PlainUploadForm maxSize={maxSize} formKey={loaderData.formKey} /> : <FilesOfOthers />}
      {isPaid ? <StorageFull usage={usage} trash={addresses.trash} /> : null}
      <FormNotice ofAll className="mt-6" />
      {spaceId === undefined ? null : <UploadsOfOthers spaceId={spaceId} isListFollowed={isLive} />}
      <Browser
        list={list}
        isLive={isLive}
        nextPage={nextPage}
        revised={loaderData.revised}
        query={query}
        now={now}
        maxSize={maxSize}
      />
      <UploadPanel uploads={uploads} onFiles={upload} />
    </Page>
  )
}

/** For somebody who may only read in the space. */
function FilesOfOthers() {
  const { spaceName } = usePlace()
  return (
    <p className="mt-1.5 text-sm text-muted">
      <Trans>
        You can open and download the files of {spaceName}. Ask its owner to make you an editor to add some.
      </Trans>
    </p>
  )
}

/** Shown only in browsers without JavaScript. */
function PlainUploadForm({ maxSize, formKey }: { maxSize: number | null; formKey: string }) {
  const formats = useFormats()
  const largest = maxSize === null ? null : formats.bytes(maxSize)
  return (
    <form
      method="post"
      encType="multipart/form-data"
      className="mt-6 hidden flex-wrap items-center gap-4 rounded-lg border border-line bg-surface p-5 noscript:flex"
    >
      {/* Before the files: what is submitted twice is stored once. */}
      <input type="hidden" name="idempotencyKey" value={formKey} autoComplete="off" />
      <label className="flex flex-1 flex-col gap-1.5 text-sm font-medium">
        <Trans>Files to upload</Trans>
        <input
          type="file"
          name="file"
          multiple
          required
          className="font-normal file:mr-3 file:h-9 file:rounded-md file:border file:border-line-strong file:bg-surface file:px-3 file:font-medium"
        />
        {largest === null ? null : (
          <span className="font-normal text-faint">
            <Trans>The largest file allowed is {largest}.</Trans>
          </span>
        )}
      </label>
      <button className={buttonClass()}>
        <Trans>Upload</Trans>
      </button>
    </form>
  )
}

/** Replaces only the files; the rest of the dashboard stays. */
export function ErrorBoundary() {
  const { t } = useLingui()
  const { addresses } = usePlace()
  return (
    <Page>
      <PageHead title={t`Files`} />
      <EmptyState
        icon="warning"
        title={t`Your files couldn't be loaded`}
        className="mt-6 rounded-lg border border-line bg-surface sm:py-24"
        action={
          // A plain link: works without JavaScript, and picks up a new deployment.
          <a href={addresses.files} className={buttonClass({ variant: "secondary", size: "sm" })}>
            <Trans>Try again</Trans>
          </a>
        }
      >
        <Trans>You're offline, or the server isn't responding. Nothing is lost.</Trans>
      </EmptyState>
    </Page>
  )
}
