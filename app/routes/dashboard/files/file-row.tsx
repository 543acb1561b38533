import { useEffect, useRef, useState, type KeyboardEvent } from "react"
import { Button, buttonClass } from "#app/ui/button.tsx"
import { Dialog, DialogClose } from "#app/ui/dialog.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { Menu, MenuItem, MenuLink, MenuSeparator } from "#app/ui/menu.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { formatBytes, type FileSummary } from "#server/files/contract.ts"
import { FileNameForm } from "./file-name-form.tsx"
import { FilePicture } from "./file-picture.tsx"
import { useFileActs } from "./use-file-acts.ts"

/** F2 renames, Delete asks whether to delete. */
export function FileRow({ file, now }: { file: FileSummary; now: number }) {
  const { rename, remove, isLeaving, fileName, problem } = useFileActs(file)
  const [isNaming, setNaming] = useState(false)
  const link = useFocusAfter(isNaming)
  const [isAsking, setAsking] = useState(false)
  const address = `/api/files/${file._id}`

  const onKeyDown = (event: KeyboardEvent) => {
    if (isNaming || isAsking) return
    if (event.key === "F2") setNaming(true)
    else if (event.key === "Delete") setAsking(true)
    else return
    event.preventDefault()
  }
  const neighbour = useRef<HTMLElement>(null)
  useEffect(() => {
    const next = neighbour
    const moveOn = () => {
      if (document.activeElement === document.body) next.current?.focus({ preventScroll: true })
    }
    // The row goes either way: it shows nothing from now on, or its file is no longer in the list.
    if (isLeaving) moveOn()
    return moveOn
  }, [isLeaving])
  // It is on its way out; the list of the server, when it comes, does not have it.
  if (isLeaving) return null

  return (
    <li onKeyDown={onKeyDown} className="group flex min-h-15 items-center gap-3.5 py-1.5 pr-2 pl-4 sm:pr-3">
      <FilePicture file={file} address={address} />
      <div className="min-w-0 flex-1 text-sm sm:flex sm:items-center sm:gap-6">
        <div className="min-w-0 flex-1">
          {isNaming ? (
            <FileNameForm
              fileName={fileName}
              onSave={(name) => {
                setNaming(false)
                if (name !== fileName) rename(name)
              }}
              onLeave={() => setNaming(false)}
            />
          ) : (
            <a
              ref={link}
              data-file
              href={address}
              target="_blank"
              rel="noreferrer"
              title={fileName}
              className="block truncate rounded-sm font-medium hover:underline"
            >
              {fileName}
            </a>
          )}
          <Problem said={problem} />
        </div>
        <p className="flex gap-1.5 text-faint tabular-nums sm:contents">
          <span className="shrink-0 sm:w-18 sm:text-right">{formatBytes(file.size)}</span>
          <span aria-hidden="true" className="sm:hidden">
            ·
          </span>
          <RelativeTime at={file._creationTime} now={now} className="shrink-0 sm:w-28 sm:text-right" />
        </p>
      </div>
      <div className="hidden shrink-0 items-center sm:flex noscript:flex">
        <a href={`${address}?download`} download={fileName} {...iconLook(`Download ${fileName}`)}>
          <Icon name="download" />
        </a>
        <RowButton label={`Rename ${fileName}`} icon="edit" onPress={() => setNaming(true)} />
        <form
          method="post"
          onSubmit={(event) => {
            event.preventDefault()
            setAsking(true)
          }}
        >
          <input type="hidden" name="id" value={file._id} />
          <button name="intent" value="remove" {...iconLook(`Delete ${fileName}`)}>
            <Icon name="trash" />
          </button>
        </form>
      </div>
      <div className="shrink-0 sm:hidden noscript:hidden">
        <Menu
          trigger={
            <Button variant="ghost" size="icon" aria-label={`What to do with ${fileName}`}>
              <Icon name="more" />
            </Button>
          }
        >
          <MenuLink icon="download" to={`${address}?download`} download={fileName}>
            Download
          </MenuLink>
          <MenuItem icon="edit" onSelect={() => setNaming(true)}>
            Rename
          </MenuItem>
          <MenuSeparator />
          <MenuItem icon="trash" tone="danger" onSelect={() => setAsking(true)}>
            Delete
          </MenuItem>
        </Menu>
      </div>
      <Dialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`Delete ${fileName}?`}
        description="It is gone for good, on every device."
        actions={
          <>
            <DialogClose render={<Button variant="secondary">Keep it</Button>} />
            <Button
              variant="danger"
              onClick={() => {
                setAsking(false)
                neighbour.current = findNeighbour(link.current)
                remove()
              }}
            >
              Delete
            </Button>
          </>
        }
      />
    </li>
  )
}

/** For what was there before something else took its place, and the focus with it. */
function useFocusAfter(isElsewhere: boolean) {
  const element = useRef<HTMLAnchorElement>(null)
  const wasElsewhere = useRef(false)
  useEffect(() => {
    const isLost = document.activeElement === document.body
    if (wasElsewhere.current && !isElsewhere && isLost) element.current?.focus({ preventScroll: true })
    wasElsewhere.current = isElsewhere
  }, [isElsewhere])
  return element
}

/** Where the focus goes when the row of this link goes. */
function findNeighbour(link: Element | null): HTMLElement | null {
  const row = link?.closest("li")
  const next = row?.nextElementSibling ?? row?.previousElementSibling
  return next?.querySelector<HTMLElement>("[data-file]") ?? null
}

function Problem({ said }: { said: string | undefined }) {
  return said ? (
    <p role="alert" className="mt-0.5 text-danger-ink">
      {said}
    </p>
  ) : null
}

function RowButton({ label, icon, onPress }: { label: string; icon: IconName; onPress: () => void }) {
  const { className, ...rest } = iconLook(label)
  return (
    <button type="button" onClick={onPress} className={`${className} noscript:hidden`} {...rest}>
      <Icon name={icon} />
    </button>
  )
}

function iconLook(label: string) {
  return { "aria-label": label, title: label, className: buttonClass({ variant: "ghost", size: "icon" }) }
}
