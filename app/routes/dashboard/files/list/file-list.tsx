import { useLingui } from "@lingui/react/macro"
import { defaultRangeExtractor, useWindowVirtualizer } from "@tanstack/react-virtual"
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
} from "react"
import { Spinner } from "#app/ui/spinner.tsx"
import type { FileSummary } from "#server/files/contract.ts"
import { useHydrated } from "#app/ui/use-hydrated.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { FileRow, type RowActs } from "./file-row.tsx"
import { RowMenu, type OpenMenu } from "./row-menu.tsx"
import type { FileActs } from "./use-file-acts.ts"
import { useDistanceFromTop } from "./use-distance-from-top.ts"
import type { FilePages } from "./use-file-pages.ts"
import { useRowFocus } from "./use-row-focus.ts"
import type { Selection } from "./use-selection.ts"

/** Pixels. The server renders rows of this height too, so that nothing moves during hydration. */
const ROW_HEIGHT = 60

/** More than a screen shows. Without JavaScript the next page begins after these. */
export const RENDERED_BY_SERVER = 40

/** The next page is requested this many rows before the end. */
const AHEAD = 150

/**
 * A virtual list of files. Only one row is in the tab order: arrow keys move between files, Space
 * and Shift select, F2 renames, Delete moves to the trash.
 */
export function FileList({
  pages,
  selection,
  acts,
  now,
  showsModified,
  onOpen,
  onShare,
  onPlace,
  onTrashSelected,
}: {
  pages: FilePages
  selection: Selection
  acts: FileActs
  now: number
  showsModified: boolean
  onOpen: (file: FileSummary) => void
  onShare: (file: FileSummary) => void
  onPlace: RowActs["onPlace"]
  onTrashSelected: () => void
}) {
  const { t } = useLingui()
  const { mayEdit, spaceName } = usePlace()
  const { rows: files, hasMore, isLoading, loadMore } = pages
  const list = useRef<HTMLUListElement>(null)
  const isHydrated = useHydrated()
  const [namingId, setNamingId] = useState<string | null>(null)
  const [menu, setMenu] = useState<OpenMenu | null>(null)
  const scrollTo = useRef<(at: number) => void>(() => {})
  const { current, setCurrent, focusOn } = useRowFocus(list, files, (at) => scrollTo.current(at))
  // A list that the server rendered whole stays as it is: measuring and placing its rows again
  // would be wasted work.
  const isVirtual = isHydrated && files.length > RENDERED_BY_SERVER
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoized by a compiler
  const virtualizer = useWindowVirtualizer({
    count: files.length,
    enabled: isVirtual,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
    scrollMargin: useDistanceFromTop(list),
    getItemKey: useCallback((at: number) => files[at]?._id ?? at, [files]),
    // The focused row stays mounted when it is scrolled out of view, and keeps the focus.
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), current])].toSorted((a, b) => a - b),
  })
  const range = virtualizer.range ?? { startIndex: 0, endIndex: 0 }
  const isNearEnd = isHydrated && hasMore && !isLoading && range.endIndex >= files.length - AHEAD
  useEffect(() => {
    if (isNearEnd) loadMore()
  }, [isNearEnd, files.length, loadMore])

  function select(event: MouseEvent | KeyboardEvent, { _id }: FileSummary) {
    setCurrent(_id)
    if (event.shiftKey) selection.extendTo(_id)
    else if (event.ctrlKey || event.metaKey) selection.toggle(_id)
    else selection.only(_id)
  }

  function onKeyDown(event: KeyboardEvent) {
    const file = files[current]
    // React also bubbles key events from the menus of the rows, which are rendered in a portal.
    if (!file || !(event.target instanceof Node && event.currentTarget.contains(event.target))) return
    if (event.target instanceof HTMLInputElement && event.target.type !== "checkbox") return
    const next = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: files.length - 1 }[event.key]
    const target = next === undefined ? undefined : files[next]
    if (target && next !== undefined) {
      if (event.shiftKey) {
        if (!selection.has(file._id)) selection.only(file._id)
        selection.extendTo(target._id)
      }
      focusOn(next)
    } else if (event.key === " " && event.target instanceof HTMLAnchorElement) {
      if (event.shiftKey) selection.extendTo(file._id)
      else selection.toggle(file._id)
    } else if (event.key === "F2" && mayEdit) setNamingId(file._id)
    else if (event.key === "Delete" && mayEdit) trash(file)
    else return
    event.preventDefault()
  }

  /** Together with the other selected files, if it is selected. */
  function trash(file: FileSummary) {
    if (selection.has(file._id)) onTrashSelected()
    else acts.trash([file])
  }

  const rowActs = useRef<RowActs>(null)
  const latest: RowActs = {
    onSelect: select,
    onToggle(file, event) {
      setCurrent(file._id)
      if (event.shiftKey) selection.extendTo(file._id)
      else selection.toggle(file._id)
    },
    onFocus: (file) => setCurrent(file._id),
    onMenu: (file, button) => setMenu({ file, button }),
    onOpen,
    onShare,
    onName: (file) => setNamingId(file._id),
    onTrash: (file) => acts.trash([file]),
    onPlace,
    onNamed(file, fileName) {
      setNamingId(null)
      if (fileName !== null && fileName !== file.fileName) acts.rename(file, fileName)
      focusOn(files.findIndex(({ _id }) => _id === file._id))
    },
  }
  // The callbacks of the rows never change, so that rows do not render again; they look up the
  // latest here.
  useLayoutEffect(() => {
    rowActs.current = latest
    scrollTo.current = (at) => (isVirtual ? virtualizer.scrollToIndex(at) : undefined)
  })
  const rows = isVirtual
    ? virtualizer.getVirtualItems()
    : files.slice(0, RENDERED_BY_SERVER).map((_, index) => ({ index, start: 0 }))
  const isSelecting = selection.files.length > 0

  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the arrow keys of the links and checkboxes in it */}
      <ul
        ref={list}
        aria-label={spaceName === null ? t`Your files` : t`Files of ${spaceName}`}
        onKeyDown={onKeyDown}
        style={isVirtual ? { height: virtualizer.getTotalSize() } : undefined}
        className="relative mt-4 rounded-lg border border-line bg-surface shadow-sm"
      >
        {rows.map(({ index, start }) => {
          const file = files[index]
          if (!file) return null
          return (
            <FileRow
              key={file._id}
              file={file}
              index={index}
              total={hasMore ? -1 : files.length}
              offset={isVirtual ? start - virtualizer.options.scrollMargin : null}
              measure={isVirtual ? virtualizer.measureElement : null}
              isReachable={!isHydrated || index === current}
              isSelected={selection.has(file._id)}
              isSelecting={isSelecting}
              isNaming={file._id === namingId}
              problem={acts.problemOf(file._id)}
              now={now}
              showsModified={showsModified}
              acts={rowActs}
            />
          )
        })}
      </ul>
      <RowMenu open={menu} onClose={() => setMenu(null)} acts={rowActs} />
      {isHydrated && hasMore ? (
        <div className="flex min-h-15 items-center justify-center gap-3 py-3 text-sm text-faint">
          <Spinner label={t`Loading more files`} />
        </div>
      ) : null}
    </>
  )
}
