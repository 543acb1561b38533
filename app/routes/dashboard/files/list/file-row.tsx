import { Trans, useLingui } from "@lingui/react/macro"
import { memo, useLayoutEffect, useRef, type KeyboardEvent, type MouseEvent, type RefObject } from "react"
import { href } from "react-router"
import { PlainForm } from "#app/features/operations/plain-form.tsx"
import { useFormats } from "#app/language/formats.ts"
import { buttonClass } from "#app/ui/button.tsx"
import { Checkmark } from "#app/ui/checkmark.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { GhostButton } from "#app/ui/icon-button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import type { FileSummary } from "#server/files/contract.ts"
import { fileOperations } from "#server/files/operations-contract.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { CutName } from "#app/routes/dashboard/place/cut-name.tsx"
import { addressOfTab } from "./address.ts"
import { FileNameForm } from "./file-name-form.tsx"
import { FilePicture } from "./file-thumbnail.tsx"

export interface RowActs {
  onSelect(event: MouseEvent | KeyboardEvent, file: FileSummary): void
  onToggle(file: FileSummary, event: { shiftKey: boolean }): void
  onFocus(file: FileSummary): void
  /** Opens the menu of the file beside the button. */
  onMenu(file: FileSummary, button: HTMLElement): void
  onOpen(file: FileSummary): void
  onShare(file: FileSummary): void
  onName(file: FileSummary): void
  onTrash(file: FileSummary): void
  /** Moves or copies it to another place. */
  onPlace(file: FileSummary, act: "move" | "copy"): void
  /** Null if the name was not changed. */
  onNamed(file: FileSummary, fileName: string | null): void
}

interface FileRowProps {
  file: FileSummary
  index: number
  /** -1 if unknown. */
  total: number
  /** Pixels below the top of the list; null if the list is not virtual. */
  offset: number | null
  /** Null if the list is not virtual. */
  measure: ((row: Element | null) => void) | null
  /** Whether the row is in the tab order. */
  isReachable: boolean
  isSelected: boolean
  /** Whether any file is selected. */
  isSelecting: boolean
  isNaming: boolean
  problem: string | undefined
  now: number
  /** The time at which it was modified, and not that of its upload. */
  showsModified: boolean
  acts: RefObject<RowActs | null>
}

export const FileRow = memo(function FileRow(props: FileRowProps) {
  const { t } = useLingui()
  const { file, index, total, offset, measure, isSelected, isNaming, problem, now, showsModified, acts } =
    props
  const { fileName } = file
  const formats = useFormats()
  const { nameOf } = usePlace()
  const row = useRef<HTMLLIElement>(null)
  const tabIndex = props.isReachable ? undefined : -1
  const isPlaced = offset !== null
  useLayoutEffect(() => {
    if (isPlaced) measure?.(row.current)
  }, [measure, isPlaced])

  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- the row's link and checkbox do the same by keyboard
    <li
      ref={row}
      data-index={index}
      aria-posinset={index + 1}
      aria-setsize={total}
      onFocus={() => acts.current?.onFocus(file)}
      onClick={(event) => {
        if (isControl(event.target)) return
        if (isByFinger(event)) acts.current?.onOpen(file)
        else acts.current?.onSelect(event, file)
      }}
      style={isPlaced ? { transform: `translateY(${offset}px)` } : undefined}
      className={classNames(
        "group flex min-h-15 items-center gap-3.5 py-1.5 pr-2 pl-4 select-none sm:pr-3",
        index === 0 ? "rounded-t-lg" : "border-t border-line",
        index === total - 1 && "rounded-b-lg",
        isPlaced && "absolute inset-x-0 top-0",
        isSelected ? "bg-accent-soft" : "hover:bg-sunken",
      )}
    >
      <Picture {...props} tabIndex={tabIndex} />
      <div
        className={classNames(
          "min-w-0 flex-1 text-sm",
          nameOf ? "xl:flex xl:items-center xl:gap-6" : "sm:flex sm:items-center sm:gap-6",
        )}
      >
        <div className="min-w-0 flex-1">
          {isNaming ? (
            <FileNameForm
              fileName={fileName}
              onSave={(name) => acts.current?.onNamed(file, name)}
              onLeave={() => acts.current?.onNamed(file, null)}
            />
          ) : (
            <a
              data-file={file._id}
              href={addressOfTab({ fileId: file._id, mimeType: file.mimeType })}
              target="_blank"
              rel="noreferrer"
              title={fileName}
              aria-label={fileName}
              dir="auto"
              tabIndex={tabIndex}
              draggable={false}
              onClick={(event) => {
                if (event.button !== 0) return
                event.preventDefault()
                if (event.shiftKey || event.ctrlKey || event.metaKey) acts.current?.onSelect(event, file)
                else acts.current?.onOpen(file)
              }}
              className="block w-fit max-w-full rounded-sm font-medium hover:underline"
            >
              <CutName name={fileName} />
            </a>
          )}
          {problem ? (
            <p role="alert" className="mt-0.5 text-danger-ink">
              {problem}
            </p>
          ) : null}
        </div>
        {/* With the name of who added it, a line of its own until the file's name fits beside it. */}
        <p
          className={classNames(
            "flex gap-1.5 text-faint tabular-nums",
            nameOf ? "xl:contents" : "sm:contents",
          )}
        >
          {nameOf && file.userId ? (
            <span className="min-w-0 truncate xl:w-32">
              <span className="sr-only">
                <Trans>Added by</Trans>{" "}
              </span>
              <bdi>{nameOf(file.userId)}</bdi>
            </span>
          ) : null}
          {nameOf && file.userId ? (
            <span aria-hidden="true" className="xl:hidden">
              ·
            </span>
          ) : null}
          <span
            className={classNames("shrink-0", nameOf ? "xl:w-18 xl:text-right" : "sm:w-18 sm:text-right")}
          >
            {formats.bytes(file.size)}
          </span>
          <span aria-hidden="true" className={nameOf ? "xl:hidden" : "sm:hidden"}>
            ·
          </span>
          {showsModified ? null : <ModifiedTime file={file} now={now} isShared={nameOf !== null} />}
          <RelativeTime
            at={showsModified ? (file.modifiedAt ?? file._creationTime) : file._creationTime}
            now={now}
            className={classNames("shrink-0", nameOf ? "xl:w-26 xl:text-right" : "sm:w-26 sm:text-right")}
          />
        </p>
      </div>
      <div className="flex shrink-0 items-center">
        <PlainActs {...props} tabIndex={tabIndex} />
        <GhostButton
          label={t`Actions for ${fileName}`}
          icon="more"
          title={undefined}
          aria-haspopup="menu"
          tabIndex={tabIndex}
          onClick={({ currentTarget }) => acts.current?.onMenu(file, currentTarget)}
          className={classNames("noscript:hidden", !isSelected && SHOWN_ON_HOVER)}
        />
      </div>
    </li>
  )
})

/** Where a second time fits beside that of the upload. */
function ModifiedTime({
  file: { modifiedAt },
  now,
  isShared,
}: Pick<FileRowProps, "file" | "now"> & { isShared: boolean }) {
  return (
    <span className={classNames("hidden w-44 shrink-0 text-right", isShared ? "2xl:block" : "xl:block")}>
      {modifiedAt === undefined ? null : (
        <Trans>
          modified <RelativeTime at={modifiedAt} now={now} />
        </Trans>
      )}
    </span>
  )
}

/** The checkbox and the file's picture; on a phone, in the same place. */
function Picture({
  file,
  isSelected,
  isSelecting,
  acts,
  tabIndex,
}: FileRowProps & { tabIndex: number | undefined }) {
  const { t } = useLingui()
  const { fileName } = file
  return (
    // oxlint-disable-next-line jsx-a11y/label-has-associated-control -- the checkbox in the mark
    <label className="relative -m-1 flex min-h-12 shrink-0 cursor-pointer items-center gap-3.5 p-1 noscript:pointer-events-none">
      <Checkmark
        label={t`Select ${fileName}`}
        isChecked={isSelected}
        tabIndex={tabIndex}
        onChange={({ nativeEvent }) =>
          acts.current?.onToggle(file, {
            shiftKey: "shiftKey" in nativeEvent && nativeEvent.shiftKey === true,
          })
        }
        className={classNames(
          "max-sm:absolute max-sm:top-0 max-sm:left-0 noscript:hidden",
          !isSelected && !isSelecting && "max-sm:opacity-0 max-sm:has-focus-visible:opacity-100",
        )}
      />
      <FilePicture file={file} />
    </label>
  )
}

/** What a link and a form can do without JavaScript; with it, the menu does the rest. */
function PlainActs({ file, tabIndex, isSelected }: FileRowProps & { tabIndex: number | undefined }) {
  const { t } = useLingui()
  const { mayEdit } = usePlace()
  const { fileName } = file
  return (
    <>
      <a
        href={href("/api/files/:fileId", { fileId: file._id }) + "?download"}
        download={fileName}
        tabIndex={tabIndex}
        aria-label={t`Download ${fileName}`}
        title={t`Download`}
        className={buttonClass(
          { variant: "ghost", size: "icon" },
          classNames("max-sm:hidden noscript:inline-flex", !isSelected && SHOWN_ON_HOVER),
        )}
      >
        <Icon name="download" />
      </a>
      {mayEdit ? (
        <PlainForm
          of={fileOperations.remove}
          values={{ fileId: file._id }}
          next=""
          className="hidden noscript:block"
        >
          <GhostButton type="submit" label={t`Delete ${fileName}`} icon="trash" tabIndex={tabIndex} />
        </PlainForm>
      ) : null}
    </>
  )
}

/** On a screen without a pointer that hovers, it is always shown. */
const SHOWN_ON_HOVER =
  "opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 touch:opacity-100 noscript:opacity-100"

/** An element in the row with an action of its own. */
function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, button, input, label, form") !== null
}

function isByFinger({ nativeEvent }: MouseEvent): boolean {
  return "pointerType" in nativeEvent && nativeEvent.pointerType === "touch"
}
