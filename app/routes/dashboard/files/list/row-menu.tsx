import { Trans } from "@lingui/react/macro"
import { useRef, type RefObject } from "react"
import { href } from "react-router"
import { AnchoredMenu, MenuItem, MenuLink, MenuSeparator } from "#app/ui/menu.tsx"
import type { FileSummary } from "#server/files/contract.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useOtherPlaces } from "#app/routes/dashboard/place/use-spaces.ts"
import type { RowActs } from "./file-row.tsx"

export interface OpenMenu {
  file: FileSummary
  /** Where the menu opens, and where the focus returns to. */
  button: HTMLElement
}

/**
 * The actions for one file, the same on every screen. One menu for all rows keeps the rows cheap to
 * render.
 */
export function RowMenu({
  open,
  onClose,
  acts,
}: {
  open: OpenMenu | null
  onClose: () => void
  acts: RefObject<RowActs | null>
}) {
  return open ? <OpenedMenu key={open.file._id} {...open} onClose={onClose} acts={acts} /> : null
}

function OpenedMenu({
  file,
  button,
  onClose,
  acts,
}: OpenMenu & { onClose: () => void; acts: RefObject<RowActs | null> }) {
  // The field for the new name takes the focus. Returning the focus to the button would close it
  // immediately.
  const isNaming = useRef(false)
  const { mayEdit } = usePlace()
  const hasPlaces = useOtherPlaces().length > 0
  return (
    <AnchoredMenu anchor={button} onClose={onClose} focusAfter={() => !isNaming.current}>
      <MenuItem icon="check-circle" onSelect={() => acts.current?.onToggle(file, { shiftKey: false })}>
        <Trans>Select</Trans>
      </MenuItem>
      <MenuLink
        icon="download"
        to={href("/api/files/:fileId", { fileId: file._id }) + "?download"}
        download={file.fileName}
      >
        <Trans>Download</Trans>
      </MenuLink>
      {hasPlaces ? (
        <PlaceItems mayMove={mayEdit} onPlace={(act) => acts.current?.onPlace(file, act)} />
      ) : null}
      {mayEdit ? (
        <>
          <MenuItem icon="link" onSelect={() => acts.current?.onShare(file)}>
            <Trans>Share</Trans>
          </MenuItem>
          <MenuItem
            icon="edit"
            onSelect={() => {
              isNaming.current = true
              acts.current?.onName(file)
            }}
          >
            <Trans>Rename</Trans>
          </MenuItem>
          <MenuSeparator />
          <MenuItem icon="trash" tone="danger" onSelect={() => acts.current?.onTrash(file)}>
            <Trans>Delete</Trans>
          </MenuItem>
        </>
      ) : null}
    </AnchoredMenu>
  )
}

/** The items that move or copy files to another place. */
export function PlaceItems({
  mayMove,
  onPlace,
}: {
  mayMove: boolean
  onPlace: (act: "move" | "copy") => void
}) {
  return (
    <>
      {mayMove ? (
        <MenuItem icon="arrow-right" onSelect={() => onPlace("move")}>
          <Trans>Move to…</Trans>
        </MenuItem>
      ) : null}
      <MenuItem icon="copy" onSelect={() => onPlace("copy")}>
        <Trans>Copy to…</Trans>
      </MenuItem>
    </>
  )
}
