import { memo, useLayoutEffect, useRef, type KeyboardEvent, type MouseEvent, type RefObject } from "react"
import { Button, buttonClass } from "#app/ui/button.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { Menu, MenuItem, MenuLink, MenuSeparator } from "#app/ui/menu.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { formatBytes, type FileSummary } from "#server/files/contract.ts"
import { FileNameForm } from "./file-name-form.tsx"
import { FilePicture } from "./file-picture.tsx"

export interface RowActs {
  onSelect(event: MouseEvent | KeyboardEvent, file: FileSummary): void
  onToggle(file: FileSummary, event: { shiftKey: boolean }): void
  onFocus(file: FileSummary): void
  onOpen(file: FileSummary): void
  onShare(file: FileSummary): void
  onName(file: FileSummary): void
  onTrash(file: FileSummary): void
  /** Null: the name stays as it was. */
  onNamed(file: FileSummary, fileName: string | null): void
}

interface FileRowProps {
  file: FileSummary
  index: number
  /** -1 while it is not known. */
  total: number
  /** Pixels below the top of the list; null where rows stand below each other by themselves. */
  offset: number | null
  measure: (row: Element | null) => void
  /** By the Tab key. */
  isReachable: boolean
  isSelected: boolean
  /** Something is selected. */
  isSelecting: boolean
  isNaming: boolean
  problem: string | undefined
  now: number
  acts: RefObject<RowActs | null>
}

export const FileRow = memo(function FileRow(props: FileRowProps) {
  const { file, index, total, offset, measure, isSelected, isNaming, problem, now, acts } = props
  const { fileName } = file
  const row = useRef<HTMLLIElement>(null)
  const tabIndex = props.isReachable ? undefined : -1
  const address = `/api/files/${file._id}`
  const isPlaced = offset !== null
  useLayoutEffect(() => {
    if (isPlaced) measure(row.current)
  }, [measure, isPlaced])

  return (
    <li
      ref={row}
      data-index={index}
      aria-posinset={index + 1}
      aria-setsize={total}
      onFocus={() => acts.current?.onFocus(file)}
      onClick={(event) => {
        // React also brings what happens in the row's menu, which stands elsewhere in the page.
        if (isControl(event.target) || !isInside(event)) return
        if (isByFinger(event)) acts.current?.onOpen(file)
        else acts.current?.onSelect(event, file)
      }}
      style={isPlaced ? { transform: `translateY(${offset}px)` } : undefined}
      className={classNames(
        "group flex min-h-15 items-center gap-3.5 border-b border-line py-1.5 pr-2 pl-4 select-none last:border-b-0 sm:pr-3",
        isPlaced && "absolute inset-x-0 top-0",
        isSelected ? "bg-accent-soft" : "hover:bg-sunken",
      )}
    >
      <Picture {...props} tabIndex={tabIndex} />
      <div className="min-w-0 flex-1 text-sm sm:flex sm:items-center sm:gap-6">
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
              href={address}
              target="_blank"
              rel="noreferrer"
              title={fileName}
              tabIndex={tabIndex}
              draggable={false}
              onClick={(event) => {
                if (event.button !== 0) return
                event.preventDefault()
                if (event.shiftKey || event.ctrlKey || event.metaKey) acts.current?.onSelect(event, file)
                else acts.current?.onOpen(file)
              }}
              className="block w-fit max-w-full truncate rounded-sm font-medium hover:underline"
            >
              {fileName}
            </a>
          )}
          {problem ? (
            <p role="alert" className="mt-0.5 text-danger-ink">
              {problem}
            </p>
          ) : null}
        </div>
        <p className="flex gap-1.5 text-faint tabular-nums sm:contents">
          <span className="shrink-0 sm:w-18 sm:text-right">{formatBytes(file.size)}</span>
          <span aria-hidden="true" className="sm:hidden">
            ·
          </span>
          <RelativeTime at={file._creationTime} now={now} className="shrink-0 sm:w-26 sm:text-right" />
        </p>
      </div>
      <WideActs {...props} tabIndex={tabIndex} address={address} />
      <NarrowActs {...props} tabIndex={tabIndex} address={address} />
    </li>
  )
})

/** What the file is, and on the same place the box that selects it. */
function Picture({
  file,
  isSelected,
  isSelecting,
  acts,
  tabIndex,
}: FileRowProps & { tabIndex: number | undefined }) {
  return (
    <label className="relative -m-1 grid size-12 shrink-0 cursor-pointer place-items-center noscript:pointer-events-none">
      <FilePicture file={file} />
      <input
        type="checkbox"
        checked={isSelected}
        tabIndex={tabIndex}
        aria-label={`Select ${file.fileName}`}
        onChange={({ nativeEvent }) =>
          acts.current?.onToggle(file, {
            shiftKey: "shiftKey" in nativeEvent && nativeEvent.shiftKey === true,
          })
        }
        className={classNames(
          "peer absolute inset-1 appearance-none rounded-md border border-line-strong bg-surface transition-opacity noscript:hidden",
          "checked:border-accent checked:bg-accent focus-visible:opacity-100",
          isSelected || isSelecting
            ? "opacity-100"
            : "opacity-0 group-hover:opacity-100 touch:group-hover:opacity-0",
        )}
      />
      <Icon
        name="check"
        className={classNames(
          "pointer-events-none absolute",
          isSelected ? "text-on-accent" : "text-faint opacity-0 peer-hover:opacity-100",
        )}
      />
    </label>
  )
}

interface ActsProps extends FileRowProps {
  address: string
  tabIndex: number | undefined
}

/** Beside the name. Without JavaScript, what a link and a form can do. */
function WideActs({ file, acts, address, tabIndex }: ActsProps) {
  const { fileName } = file
  return (
    <div className="hidden shrink-0 items-center sm:flex noscript:flex">
      <a
        href={`${address}?download`}
        download={fileName}
        tabIndex={tabIndex}
        {...iconLook(`Download ${fileName}`)}
      >
        <Icon name="download" />
      </a>
      <RowButton
        label={`Share ${fileName}`}
        icon="link"
        tabIndex={tabIndex}
        onPress={() => acts.current?.onShare(file)}
      />
      <RowButton
        label={`Rename ${fileName}`}
        icon="edit"
        tabIndex={tabIndex}
        onPress={() => acts.current?.onName(file)}
      />
      <form
        method="post"
        onSubmit={(event) => {
          event.preventDefault()
          acts.current?.onTrash(file)
        }}
      >
        <input type="hidden" name="id" value={file._id} />
        <button name="intent" value="remove" tabIndex={tabIndex} {...iconLook(`Delete ${fileName}`)}>
          <Icon name="trash" />
        </button>
      </form>
    </div>
  )
}

function NarrowActs({ file, acts, address, tabIndex }: ActsProps) {
  return (
    <div className="shrink-0 sm:hidden noscript:hidden">
      <Menu
        trigger={
          <Button
            variant="ghost"
            size="icon"
            tabIndex={tabIndex}
            aria-label={`What to do with ${file.fileName}`}
          >
            <Icon name="more" />
          </Button>
        }
      >
        <MenuItem icon="check-circle" onSelect={() => acts.current?.onToggle(file, { shiftKey: false })}>
          Select
        </MenuItem>
        <MenuLink icon="download" to={`${address}?download`} download={file.fileName}>
          Download
        </MenuLink>
        <MenuItem icon="link" onSelect={() => acts.current?.onShare(file)}>
          Share
        </MenuItem>
        <MenuItem icon="edit" onSelect={() => acts.current?.onName(file)}>
          Rename
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon="trash" tone="danger" onSelect={() => acts.current?.onTrash(file)}>
          Move to trash
        </MenuItem>
      </Menu>
    </div>
  )
}

function RowButton({
  label,
  icon,
  tabIndex,
  onPress,
}: {
  label: string
  icon: IconName
  tabIndex: number | undefined
  onPress: () => void
}) {
  const { className, ...rest } = iconLook(label)
  return (
    <button
      type="button"
      tabIndex={tabIndex}
      onClick={onPress}
      className={`${className} noscript:hidden`}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  )
}

function iconLook(label: string) {
  return { "aria-label": label, title: label, className: buttonClass({ variant: "ghost", size: "icon" }) }
}

/** Something in the row that does something of its own. */
function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, button, input, label, form") !== null
}

function isInside({ currentTarget, target }: MouseEvent): boolean {
  return target instanceof Node && currentTarget.contains(target)
}

function isByFinger({ nativeEvent }: MouseEvent): boolean {
  return "pointerType" in nativeEvent && nativeEvent.pointerType === "touch"
}
