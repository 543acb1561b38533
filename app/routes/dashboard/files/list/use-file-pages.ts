import { useEffect, useEffectEvent, useRef } from "react"
import { href } from "react-router"
import {
  createPageReader,
  createPages,
  type LiveClient,
  recallPages,
  useLive,
  useLivePages,
} from "#live/react"
import type { FilePage, FileSummary, ListFiles } from "#server/files/contract.ts"
import type { LiveRow, Loaded } from "#live/contract"
import { send } from "#app/routes/dashboard/requests/send.ts"
import { argsAfterFiltered, filteredPage, type PageArgs } from "./filtered-page.ts"

/** Milliseconds. Changes within this time cause one reload. */
const READ_AGAIN_AFTER = 150

export type FilePages = ReturnType<typeof useFilePages>

/** What increases with every change of the files in a place. */
export type Revision = LiveRow & { revision: number }

/**
 * The files of a list, as far as it has been scrolled. The newest files are live. Lists in another
 * order, searches and filtered lists are read again when the revision of their place shows that its
 * files have changed.
 */
export function useFilePages(first: Loaded<FileSummary>, isLive: boolean, revised: Loaded<Revision>) {
  const argsAfter = (end: string) =>
    isLive ? { ...(first.args as object), after: end } : argsAfterFiltered(first.args as PageArgs, end)
  const pages = useLivePages(first, argsAfter, isLive ? openLive : openFiltered)
  const { readAgain } = pages
  const revision = useLive(revised)[0]?.revision
  const known = useRef(revision)
  const due = useRef<ReturnType<typeof setTimeout>>(undefined)
  const read = useEffectEvent(() => void readAgain?.())
  useEffect(() => {
    if (known.current === revision) return
    known.current = revision
    // Not put off by the next change: where others upload thousands of files, there always is one.
    due.current ??= setTimeout(() => {
      due.current = undefined
      read()
    }, READ_AGAIN_AFTER)
  }, [revision])
  useEffect(
    () => () => {
      clearTimeout(due.current)
      due.current = undefined
    },
    [],
  )
  return { ...pages, revision }
}

const openLive: typeof createPages = (client, first, argsAfter) =>
  recallPages(client, first, () => createPages(client, first, argsAfter))

const openFiltered = (client: LiveClient, first: Loaded, argsAfter: (end: string) => unknown) =>
  recallPages(client, first, () => createPages(createPageReader(client, readFiltered), first, argsAfter))

async function readFiltered(args: unknown) {
  const page = args as PageArgs
  const { spaceId } = page
  const place = spaceId === undefined ? "" : `&spaceId=${spaceId}`
  const address = `${href("/api/files")}${addressOf(page, page.cursor)}&limit=100${place}`
  return filteredPage(page, await send<FilePage>("GET", address))
}

/** What is searched for in which place, as a query string of the API. */
export function searchOf({ q, type, spaceId }: Pick<ListFiles, "q" | "type" | "spaceId">): string {
  return new URLSearchParams({
    ...(q && { q }),
    ...(type && { type }),
    ...(spaceId !== undefined && { spaceId }),
  }).toString()
}

/** The query string of a list: `?sort=name&q=tides`. */
export function addressOf({ q, sort, type }: Pick<ListFiles, "q" | "sort" | "type">, cursor?: string) {
  return `?${new URLSearchParams({ sort, ...(q && { q }), ...(type && { type }), ...(cursor && { cursor }) })}`
}
