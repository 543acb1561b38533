import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { Button, buttonClass } from "#app/ui/button.tsx"
import { GhostButton } from "#app/ui/icon-button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Menu } from "#app/ui/menu.tsx"
import { ARCHIVE_LIMIT } from "#server/files/acts-contract.ts"
import { useOtherPlaces } from "#app/routes/dashboard/place/use-spaces.ts"
import { PlaceItems } from "./row-menu.tsx"
import type { Selection } from "./use-selection.ts"

/** The actions for the selected files. At the bottom of the window, within reach of a thumb. */
export function SelectionBar({
  selection,
  isAll,
  loaded,
  offered,
  onAll,
  onDownload,
  onPlace,
  onTrash,
}: {
  selection: Selection
  isAll: boolean
  /** How many files there are; null if not all of them have been loaded. */
  loaded: number | null
  /** How many match, once all that have been loaded are selected and there are more. */
  offered: number | null
  onAll: () => void
  onDownload: () => void
  onPlace: (act: "move" | "copy") => void
  /** Null for somebody who may only read in the space. */
  onTrash: (() => void) | null
}) {
  const { t } = useLingui()
  const formats = useFormats()
  const hasPlaces = useOtherPlaces().length > 0
  const { files, matching } = selection
  const count = formats.number(selection.count)
  const size = formats.bytes(selection.size)
  const total = offered === null ? null : formats.number(offered)
  const most = offered ?? loaded
  const all = most === null ? null : formats.number(most)
  const isEvery = matching !== null && matching.except.length === 0
  const [file] = files
  return (
    <>
      <p role="status" className="sr-only">
        {selection.count === 0
          ? ""
          : total === null
            ? t`${count} selected, ${size}. Press Escape to clear the selection.`
            : t`${count} selected, ${size}. Select all again for all ${total} that match. Press Escape to clear the selection.`}
      </p>
      {selection.count === 0 ? null : (
        <div
          role="toolbar"
          aria-label={t`Selected files`}
          data-selection-bar
          className="fixed right-3 bottom-[calc(0.75rem+env(safe-area-inset-bottom)+var(--toast-inset,0px))] left-3 z-30 mx-auto flex items-center gap-1.5 rounded-lg border border-line-strong bg-raised py-2 pr-2 pl-4 shadow-lg sm:w-fit sm:min-w-xl lg:bottom-6 lg:left-66"
        >
          <p className="min-w-0 flex-1 text-sm">
            <span className="block truncate font-medium tabular-nums">
              {isEvery ? <Trans>All {count} selected</Trans> : <Trans>{count} selected</Trans>}
            </span>
            <span className="block truncate text-faint tabular-nums">{size}</span>
          </p>
          {isAll ? null : (
            <Button
              variant="ghost"
              size="sm"
              aria-label={all === null ? t`Select all` : t`Select all ${all}`}
              onClick={onAll}
            >
              <span className="max-sm:hidden">
                {all === null ? <Trans>Select all</Trans> : <Trans>Select all {all}</Trans>}
              </span>
              <span className="sm:hidden">
                {all === null ? <Trans>All</Trans> : <Trans>All {all}</Trans>}
              </span>
            </Button>
          )}
          {file && selection.count === 1 && matching === null ? (
            <a
              href={href("/api/files/:fileId", { fileId: file._id }) + "?download"}
              download={file.fileName}
              className={buttonClass({ variant: "secondary", size: "sm" })}
            >
              <Icon name="download" />
              <span className="max-sm:sr-only">
                <Trans>Download</Trans>
              </span>
            </a>
          ) : (
            <Button
              variant="secondary"
              size="sm"
              disabled={matching === null && files.length > ARCHIVE_LIMIT}
              title={
                matching === null && files.length > ARCHIVE_LIMIT
                  ? t`A zip can hold up to ${ARCHIVE_LIMIT} files`
                  : undefined
              }
              onClick={onDownload}
            >
              <Icon name="download" />
              <span className="max-sm:sr-only">
                <Trans>Download as zip</Trans>
              </span>
            </Button>
          )}
          {hasPlaces ? (
            <Menu
              trigger={
                <Button variant="secondary" size="sm" aria-label={t`Move or copy`} title={t`Move or copy`}>
                  <Icon name="arrow-right" />
                </Button>
              }
            >
              <PlaceItems mayMove={onTrash !== null} onPlace={onPlace} />
            </Menu>
          ) : null}
          {onTrash ? (
            <Button variant="secondary" size="sm" onClick={onTrash} className="text-danger-ink">
              <Icon name="trash" />
              <span className="max-sm:sr-only">
                <Trans>Delete</Trans>
              </span>
            </Button>
          ) : null}
          <GhostButton label={t`Clear selection`} icon="x" onClick={selection.clear} />
        </div>
      )}
    </>
  )
}
