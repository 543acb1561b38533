import type { KeyboardEvent } from "react"
import { LinkButton } from "#app/ui/button.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import type { FilePage, FileSummary, ListFiles } from "#server/files/contract.ts"
import { FileRow } from "./file-row.tsx"

/** One page of files. Arrow keys go from file to file. */
export function FileList({
  files,
  nextCursor,
  query,
  now,
}: {
  files: readonly FileSummary[]
  nextCursor: FilePage["nextCursor"]
  query: ListFiles
  now: number
}) {
  if (files.length === 0) {
    return (
      <EmptyState
        icon="search"
        title={query.q ? `No file is called “${query.q}”` : "There are no more files"}
        action={
          <LinkButton to={addressOf({ ...query, q: "" })} variant="secondary" size="sm">
            Show all files
          </LinkButton>
        }
      >
        {query.q ? "Any part of a name finds it." : "This was the end of the list."}
      </EmptyState>
    )
  }
  return (
    <>
      <ul
        aria-label="Your files"
        onKeyDown={moveBetweenFiles}
        className="mt-4 divide-y divide-line rounded-lg border border-line bg-surface shadow-sm"
      >
        {files.map((file) => (
          <FileRow key={file._id} file={file} now={now} />
        ))}
      </ul>
      <nav aria-label="Pages" className="mt-5 flex justify-between gap-3 empty:hidden">
        {query.cursor ? (
          <LinkButton to={addressOf(query)} variant="secondary" size="sm">
            Back to the start
          </LinkButton>
        ) : null}
        {nextCursor ? (
          <LinkButton to={addressOf(query, nextCursor)} variant="secondary" size="sm" className="ml-auto">
            More files
          </LinkButton>
        ) : null}
      </nav>
    </>
  )
}

function addressOf({ q, sort }: ListFiles, cursor?: string) {
  return `?${new URLSearchParams({ ...(q && { q }), sort, ...(cursor && { cursor }) })}`
}

function moveBetweenFiles(event: KeyboardEvent<HTMLElement>) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined || event.target instanceof HTMLInputElement) return
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-file]")]
  const row = event.target instanceof Element ? event.target.closest("li") : null
  const next = links[links.findIndex((link) => row?.contains(link)) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
