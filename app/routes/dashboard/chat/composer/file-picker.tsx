import { Trans, useLingui } from "@lingui/react/macro"
import { useCallback, useState, type KeyboardEvent } from "react"
import { href } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { useSentences } from "#app/language/sentences.ts"
import { Button } from "#app/ui/button.tsx"
import { Dialog, DialogClose } from "#app/ui/dialog.tsx"
import { Field } from "#app/ui/field.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { Attachment } from "#server/chat/contract.ts"
import { FILE_SEARCH_LIMIT, type FilePage, type FileSummary } from "#server/files/contract.ts"
import { send } from "#app/routes/dashboard/requests/send.ts"
import { useSearch } from "#app/routes/dashboard/requests/use-search.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { whyNot } from "./use-attaching.ts"

interface FilePickerProps {
  attached: Attachment[]
  onPick: (file: FileSummary) => void
  onClose: () => void
}

/** The user's own files, searched by name. */
export function FilePicker({ attached, onPick, onClose }: FilePickerProps) {
  const { t } = useLingui()
  const [name, setName] = useState("")
  const say = useSentences()
  const { spaceId } = usePlace()
  const findFiles = useCallback(
    (sought: string, signal: AbortSignal) => findFilesIn(spaceId, sought, signal),
    [spaceId],
  )
  const { found: files, problem } = useSearch(name, findFiles)
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={spaceId === undefined ? t`Add from your files` : t`Add from the files of the space`}
      actions={
        <DialogClose
          render={
            <Button>
              <Trans>Done</Trans>
            </Button>
          }
        />
      }
    >
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the arrow keys of the field and the buttons in it */}
      <div onKeyDown={walk}>
        <Field
          label={t`Find a file by name`}
          labelHidden
          type="search"
          placeholder={t`Find by name…`}
          autoComplete="off"
          maxLength={FILE_SEARCH_LIMIT}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <div className="-mx-2 mt-2 h-72 overflow-y-auto">
          {problem ? (
            <p className="p-2 text-sm text-danger-ink" role="alert">
              {say(problem)}
            </p>
          ) : null}
          {files?.length === 0 ? (
            <p className="p-2 text-sm text-faint">
              {name ? t`No file names match.` : t`There are no files yet.`}
            </p>
          ) : null}
          <ul aria-label={t`Your files`}>
            {files?.map((file) => (
              <li key={file._id}>
                <FileChoice
                  file={file}
                  isAttached={attached.some(({ fileId }) => fileId === file._id)}
                  onPick={onPick}
                />
              </li>
            ))}
          </ul>
        </div>
      </div>
    </Dialog>
  )
}

interface FileChoiceProps {
  file: FileSummary
  isAttached: boolean
  onPick: (file: FileSummary) => void
}

function FileChoice({ file, isAttached, onPick }: FileChoiceProps) {
  const { i18n } = useLingui()
  const formats = useFormats()
  const reason = whyNot(file, i18n)
  return (
    <button
      type="button"
      aria-pressed={isAttached}
      disabled={reason !== null}
      onClick={() => (isAttached ? undefined : onPick(file))}
      className="flex min-h-11 w-full items-center gap-3 rounded-md px-2 text-left text-sm -outline-offset-2 hover:bg-hover disabled:pointer-events-none disabled:opacity-60 aria-pressed:bg-accent-soft"
    >
      <Icon name={file.mimeType.startsWith("image/") ? "image" : "text"} className="text-faint" />
      <span className="min-w-0 flex-1">
        <span dir="auto" className="block truncate font-medium">
          {file.fileName}
        </span>
        {reason ? <span className="block truncate text-xs text-faint">{reason}</span> : null}
      </span>
      {isAttached ? (
        <Icon name="check" className="text-accent-ink" />
      ) : (
        <span className="shrink-0 text-xs text-faint tabular-nums">{formats.bytes(file.size)}</span>
      )}
    </button>
  )
}

/** The up and down arrows move through the field and the files. */
function walk(event: KeyboardEvent<HTMLElement>) {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, button:not(:disabled)")]
  const at = stops.findIndex((stop) => stop === document.activeElement)
  event.preventDefault()
  stops[at + (event.key === "ArrowDown" ? 1 : -1)]?.focus()
}

async function findFilesIn(spaceId: string | undefined, name: string, signal: AbortSignal) {
  const query = new URLSearchParams({ q: name, limit: "30", ...(spaceId && { spaceId }) })
  const { files } = await send<FilePage>("GET", `${href("/api/files")}?${query}`, { signal })
  return files
}
