import { data, redirect } from "react-router"
import { literal, object, parse, string, variant } from "valibot"
import { useLive } from "#app/realtime/use-live.tsx"
import { Alert } from "#app/ui/alert.tsx"
import { buttonClass } from "#app/ui/button.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { formatBytes, ListFiles, RenameFile, type FileSummary } from "#server/files/contract.ts"
import { findUsage, renameFile } from "#server/files/files.ts"
import { takeFiles } from "#server/files/incoming.ts"
import { listFiles } from "#server/files/list.ts"
import { fileList } from "#server/files/live.ts"
import { trashFile } from "#server/files/trash.ts"
import { uploadFile } from "#server/files/upload.ts"
import { isRefusal } from "#server/errors.ts"
import { readForm } from "#server/http/form.ts"
import { loadLive } from "#server/http/live.ts"
import { requireScope } from "#server/http/scope.ts"
import { DropZone } from "./drop-zone.tsx"
import { FileList } from "./file-list.tsx"
import type { FileAnswer } from "./use-file-acts.ts"
import { FilesToolbar } from "./toolbar.tsx"
import { UploadButton } from "./upload-button.tsx"
import { uploadQueue } from "./upload-queue.ts"
import { UploadPanel } from "./upload-panel.tsx"
import { UsageMeter } from "./usage-meter.tsx"
import { useReloadWith } from "../use-reload-with.ts"
import { useUploads } from "./use-uploads.ts"
import type { Route } from "./+types/list.ts"

export const meta: Route.MetaFunction = () => [{ title: "Files · Tideline" }]

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = parse(ListFiles, { limit: "100", ...Object.fromEntries(url.searchParams) })
  const [page, usage, [live]] = await Promise.all([
    listFiles(scope, query),
    findUsage(scope),
    loadLive(scope, [fileList, {}]),
  ])
  return { ...page, live, query, usage, maxSize: scope.config.files.maxSize, now: Date.now() }
}

const FileForm = variant("intent", [
  object({ intent: literal("rename"), id: string(), ...RenameFile.entries }),
  object({ intent: literal("remove"), id: string() }),
])

/** What went wrong is returned to the form that asked. A form with files was sent without JavaScript. */
export async function action({ context, request, url }: Route.ActionArgs) {
  const scope = await requireScope(context)
  try {
    if (request.headers.get("content-type")?.startsWith("multipart/form-data")) {
      await takeFiles(request, (file) => uploadFile(scope, file))
      return redirect(url.pathname + url.search)
    }
    const form = await readForm(request, FileForm)
    if (!form.ok) return answer({ error: Object.values(form.errors).join(" ") }, form.status)
    if (form.value.intent === "rename") await renameFile(scope, form.value.id, form.value)
    else await trashFile(scope, form.value.id)
    // A page that answered a form would send it again when it is reloaded.
    return asksForPage(request) ? redirect(url.pathname + url.search) : answer({})
  } catch (error) {
    if (!isRefusal(error)) throw error
    return answer({ error: error.message }, error.status)
  }
}

function answer(said: FileAnswer, status = 200) {
  return data(said, { status })
}

function asksForPage(request: Request) {
  return request.headers.get("accept")?.includes("text/html") ?? false
}

export default function Files({ loaderData, actionData }: Route.ComponentProps) {
  const { nextCursor, query, usage, maxSize, now } = loaderData
  const files = useFiles(loaderData)
  const uploads = useUploads()
  const upload = (chosen: readonly File[]) =>
    uploadQueue.add(chosen, { maxSize, room: usage.quota - usage.used })
  const isEmpty = files.length === 0 && !query.q && !query.cursor

  return (
    <div className="mx-auto w-full max-w-5xl px-5 py-8 sm:px-8 lg:py-12">
      <DropZone onFiles={upload} />
      <div className="flex items-center justify-between gap-4">
        <h1 className="text-2xl font-semibold sm:text-3xl">Files</h1>
        <UploadButton onFiles={upload}>Upload</UploadButton>
      </div>
      <UsageMeter usage={usage} />
      <PlainUploadForm maxSize={maxSize} />
      {actionData?.error ? (
        <Alert tone="danger" title="That did not work" className="mt-6">
          {actionData.error}
        </Alert>
      ) : null}
      {isEmpty ? (
        <EmptyState
          icon="folder"
          title="No files yet"
          className="mt-6 rounded-lg border border-dashed border-line-strong sm:py-24"
        >
          Drop some anywhere on this page, paste them, or press Upload. Each can be {formatBytes(maxSize)} at
          most.
        </EmptyState>
      ) : (
        <>
          <FilesToolbar query={query} />
          <FileList files={files} nextCursor={nextCursor} query={query} now={now} />
        </>
      )}
      <UploadPanel uploads={uploads} />
    </div>
  )
}

/**
 * The newest files are live themselves. Another order, a search and later pages are the server's answer, which is asked for again
 * when anything changes; what is renamed or removed meanwhile is shown at once.
 */
function useFiles({ files, live, query }: Route.ComponentProps["loaderData"]): readonly FileSummary[] {
  const newest = useLive(live)
  useReloadWith(newest)
  return query.sort === "newest" && !query.q && !query.cursor ? newest : files
}

/** For browsers without JavaScript, and shown to no others. */
function PlainUploadForm({ maxSize }: { maxSize: number }) {
  return (
    <form
      method="post"
      encType="multipart/form-data"
      className="mt-6 hidden flex-wrap items-center gap-4 rounded-lg border border-line bg-surface p-5 noscript:flex"
    >
      <label className="flex flex-1 flex-col gap-1.5 text-sm font-medium">
        Files to upload
        <input
          type="file"
          name="file"
          multiple
          required
          className="font-normal file:mr-3 file:h-9 file:rounded-md file:border file:border-line-strong file:bg-surface file:px-3 file:font-medium"
        />
        <span className="font-normal text-faint">Each can be {formatBytes(maxSize)} at most.</span>
      </label>
      <button className={buttonClass()}>Upload</button>
    </form>
  )
}
