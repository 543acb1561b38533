import { select } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { useLocation } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { LinkButton } from "#app/ui/button.tsx"
import { defer } from "#app/ui/defer.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { GhostButton } from "#app/ui/icon-button.tsx"
import { useKeys } from "#app/ui/use-keys.ts"
import type { MatchingFiles } from "#server/files/acts-contract.ts"
import type { FileSummary, ListFiles } from "#server/files/contract.ts"
import type { Loaded } from "#live/contract"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { FileList } from "./file-list.tsx"
import { ListHead } from "./list-head.tsx"
import type { Placing } from "./place-files-dialog-part.tsx"
import { Preview } from "./preview.tsx"
import { SelectionBar } from "./selection-bar.tsx"
import { FilesToolbar } from "./toolbar.tsx"
import { useArchive } from "./use-archive.ts"
import { useFileActs } from "./use-file-acts.ts"
import { addressOf, searchOf, useFilePages, type Revision } from "./use-file-pages.ts"
import { useSelectAll } from "./use-select-all.ts"
import { useSelection } from "./use-selection.ts"

const ShareFileDialog = defer(() => import("#app/routes/dashboard/files/share/share-dialog-part.tsx"))(
  (parts) => parts.ShareFileDialog,
)
const PlaceFilesDialog = defer(() => import("./place-files-dialog-part.tsx"))(
  (parts) => parts.PlaceFilesDialog,
)

/** The list of files with all its actions. */
export function Browser({
  list,
  isLive,
  nextPage,
  revised,
  query,
  now,
  maxSize,
}: {
  list: Loaded<FileSummary>
  isLive: boolean
  /** The URL of the next page, for browsers without JavaScript. */
  nextPage: string | null
  /** The revision of the place, live. */
  revised: Loaded<Revision>
  query: ListFiles
  now: number
  /** Bytes; null if it is not known. */
  maxSize: number | null
}) {
  const { t } = useLingui()
  const formats = useFormats()
  const { mayEdit } = usePlace()
  const pages = useFilePages(list, isLive, revised)
  const { rows: files, hasMore, loadMore } = pages
  const search = searchOf(query)
  const selection = useSelection(files, search)
  const acts = useFileActs()
  const download = useArchive()
  const [openId, setOpenId] = useOpenFile()
  const [shared, setShared] = useState<FileSummary | null>(null)
  const [placing, setPlacing] = useState<Placing | null>(null)
  const isFiltered = Boolean(query.q || query.type)
  const openAt = openId === null ? -1 : files.findIndex(({ _id }) => _id === openId)
  const open = files[openAt]
  const fileName = open?.fileName

  const { clear } = selection
  const { offered, selectAll } = useSelectAll(pages, selection, search)
  useSelectionKeys({ selectAll, clear }, files.length > 0)

  /** All that match, for the server to find; null if the selected files are known by their ids. */
  const everything: MatchingFiles | null = selection.matching && {
    ...(query.q && { q: query.q }),
    type: query.type,
    spaceId: query.spaceId,
    ...selection.matching,
  }

  const isAllSelected =
    selection.matching === null
      ? !hasMore && selection.count === files.length
      : selection.matching.except.length === 0

  function trashSelected() {
    if (everything) void acts.trashAll(everything, selection.count).then((isDone) => isDone && clear())
    else acts.trash(selection.files)
  }

  function move(step: 1 | -1) {
    const next = files[openAt + step]
    if (next) setOpenId(next._id)
    if (openAt + 5 > files.length) loadMore()
  }

  if (files.length === 0 && !isFiltered && !query.cursor) {
    const largest = maxSize === null ? null : formats.bytes(maxSize)
    return (
      <EmptyState
        icon="folder"
        title={t`No files yet`}
        className="mt-6 rounded-lg border border-dashed border-line-strong sm:py-24"
      >
        {!mayEdit ? (
          <Trans>New files appear here automatically.</Trans>
        ) : largest === null ? (
          <Trans>Drop files anywhere on this page, paste them, or press Upload.</Trans>
        ) : (
          <Trans>
            Drop files anywhere on this page, paste them, or press Upload. The largest file allowed is{" "}
            {largest}.
          </Trans>
        )}
      </EmptyState>
    )
  }
  return (
    <div data-files>
      <FilesToolbar query={query} />
      {files.length === 0 ? (
        <NothingFound query={query} />
      ) : (
        <>
          <ListHead
            query={query}
            isAll={isAllSelected}
            isSome={selection.count > 0 && !isAllSelected}
            onAll={selectAll}
            onNone={clear}
          />
          <FileList
            pages={pages}
            selection={selection}
            acts={acts}
            now={now}
            showsModified={query.sort.startsWith("modified")}
            onOpen={({ _id }) => setOpenId(_id)}
            onShare={setShared}
            onPlace={(file, act) => setPlacing({ act, files: [file], count: 1, everything: null })}
            onTrashSelected={trashSelected}
          />
        </>
      )}
      <PlainPages query={query} nextCursor={nextPage} />
      <SelectionBar
        selection={selection}
        isAll={isAllSelected}
        loaded={hasMore ? null : files.length}
        offered={offered}
        onAll={selectAll}
        onDownload={() =>
          download(everything ? { all: everything } : { ids: selection.files.map(({ _id }) => _id) })
        }
        onPlace={(act) => setPlacing({ act, files: selection.files, count: selection.count, everything })}
        onTrash={mayEdit ? trashSelected : null}
      />
      {open ? (
        <Preview
          file={open}
          place={openAt}
          count={files.length}
          onMove={move}
          onClose={() => setOpenId(null)}
          actions={
            mayEdit ? (
              <GhostButton
                label={t`Share ${fileName}`}
                icon="link"
                title={t`Share`}
                onClick={() => setShared(open)}
              />
            ) : null
          }
        />
      ) : null}
      {placing ? (
        <PlaceFilesDialog
          {...placing}
          onDone={() => {
            setPlacing(null)
            clear()
          }}
          onClose={() => setPlacing(null)}
        />
      ) : null}
      {shared ? <ShareFileDialog file={shared} onClose={() => setShared(null)} /> : null}
    </div>
  )
}

/**
 * The file in the preview: opened from the list, or named by a link of the dashboard in its
 * location state.
 */
function useOpenFile() {
  const { key, state } = useLocation()
  const named = typeof state === "object" && state !== null && "open" in state ? String(state.open) : null
  const [openId, setOpenId] = useState<string | null>(null)
  const [shownKey, setShownKey] = useState<string | null>(null)
  if (named !== null && shownKey !== key) {
    setShownKey(key)
    setOpenId(named)
  }
  return [openId, setOpenId] as const
}

function NothingFound({ query: { q, type, cursor } }: { query: ListFiles }) {
  const { t } = useLingui()
  const kind = type ?? "files"
  const title = q
    ? t`No file names match “${q}”`
    : cursor
      ? t`There are no more files`
      : t`${select(kind, {
          image: "You have no images",
          video: "You have no videos",
          audio: "You have no audio files",
          document: "You have no documents",
          text: "You have no text or code files",
          archive: "You have no archives",
          files: "You have no files",
          other: "You have no other files",
        })}`
  return (
    <EmptyState
      icon="search"
      title={title}
      action={
        <LinkButton to="?" variant="secondary" size="sm">
          <Trans>Show all files</Trans>
        </LinkButton>
      }
    >
      {q && type
        ? t`${select(kind, {
            image: "Searched images only. You can search for any part of a name.",
            video: "Searched videos only. You can search for any part of a name.",
            audio: "Searched audio files only. You can search for any part of a name.",
            document: "Searched documents only. You can search for any part of a name.",
            text: "Searched text and code only. You can search for any part of a name.",
            archive: "Searched archives only. You can search for any part of a name.",
            other: "Searched other files only. You can search for any part of a name.",
          })}`
        : q
          ? t`You can search for any part of a name.`
          : t`New files appear here automatically.`}
    </EmptyState>
  )
}

/** Pagination for browsers without JavaScript. */
function PlainPages({ query, nextCursor }: { query: ListFiles; nextCursor: string | null }) {
  const { t } = useLingui()
  return (
    <nav aria-label={t`Pages`} className="mt-5 hidden justify-between gap-3 empty:hidden noscript:flex">
      {query.cursor ? (
        <LinkButton to={addressOf(query)} variant="secondary" size="sm">
          <Trans>Back to the start</Trans>
        </LinkButton>
      ) : null}
      {nextCursor ? (
        <LinkButton to={addressOf(query, nextCursor)} variant="secondary" size="sm" className="ml-auto">
          <Trans>More files</Trans>
        </LinkButton>
      ) : null}
    </nav>
  )
}

/** Works wherever the focus is on the page, but not in a text field or while a dialog is open. */
function useSelectionKeys({ selectAll, clear }: { selectAll: () => void; clear: () => void }, isOn: boolean) {
  useKeys((event) => {
    if (!(event.target instanceof Element)) return
    const others =
      "input:not([type=checkbox]), textarea, select, [contenteditable], [role=dialog], [role=menu]"
    if (event.target.closest(others)) return
    if (event.key === "Escape") clear()
    const isHeld = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
    if (event.key.toLowerCase() !== "a" || !isHeld) return
    event.preventDefault()
    selectAll()
  }, isOn)
}
