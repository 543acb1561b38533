import { msg } from "@lingui/core/macro"
import { useEffect, useState, useSyncExternalStore } from "react"
import { i18nOfDocument } from "#app/language/i18n.ts"
import { useLive } from "#app/realtime/use-live.tsx"
import type { FilePage, FileSummary, ListFiles } from "#server/files/contract.ts"
import type { LiveRow, Loaded } from "#server/realtime/contract.ts"
import { useReloadWith } from "../../use-reload-with.ts"
import { createFilePages, type FilePageStore } from "./file-pages.ts"

/** Lists that were left: going back finds them as long as they were. */
const remembered = new Map<string, FilePageStore>()
const MOST_REMEMBERED = 4

/** Not yet asked for: it changes with every file, so it tells a list that is not live itself that it may be another now. */
const USAGE: Loaded = {
  query: "files.getUsage",
  args: {},
  rows: [],
  order: [["_id", "asc"]],
  end: null,
}

/**
 * The files of a list, as far as they have been scrolled to. The newest files are live. Another order, a search and a narrowed list are the
 * server's answer, which is asked for again when something changes.
 */
export function useFilePages(
  first: FilePage,
  query: ListFiles,
  live: Loaded<FileSummary> | null,
): FilePageStore {
  const store = useStore(first, query)
  const rows = useLive<LiveRow>(live ?? USAGE)
  useReloadWith(rows)
  useEffect(() => {
    // With `live` they are its own.
    if (live) store.replace(0, rows as readonly FileSummary[])
  }, [live, rows, store])
  useEffect(() => {
    if (live) return
    store.replace(0, first.files, first.nextCursor)
    store.age()
  }, [live, first, store])
  return store
}

export function useShownFiles(store: FilePageStore) {
  return useSyncExternalStore(store.watch, store.shown, store.shown)
}

/** Kept while the list is the same, and after it was left. On the server nothing is ever remembered. */
function useStore(first: FilePage, query: ListFiles): FilePageStore {
  const key = addressOf(query, query.cursor)
  const [held, setHeld] = useState(() => ({ key, store: remembered.get(key) ?? open(first, query) }))
  let current = held
  if (held.key !== key) {
    current = { key, store: remembered.get(key) ?? open(first, query) }
    setHeld(current)
  }
  const { store } = current
  useEffect(() => {
    remembered.delete(key)
    remembered.set(key, store)
    for (const old of [...remembered.keys()].slice(0, -MOST_REMEMBERED)) remembered.delete(old)
  }, [key, store])
  return store
}

function open(first: FilePage, query: ListFiles): FilePageStore {
  return createFilePages(first, async (cursor) => {
    const response = await fetch(`/api/files${addressOf(query, cursor)}&limit=100`).catch(() => null)
    const i18n = i18nOfDocument()
    if (!response) throw new Error(i18n._(msg`You're offline, or the server isn't responding.`))
    const { status } = response
    if (status === 401) throw new Error(i18n._(msg`You're signed out. Sign in again to see more.`))
    if (!response.ok) throw new Error(i18n._(msg`The server couldn't respond (${status}).`))
    return (await response.json()) as FilePage
  })
}

/** The address of a list: `?sort=name&q=tides`. */
export function addressOf({ q, sort, type }: Pick<ListFiles, "q" | "sort" | "type">, cursor?: string) {
  return `?${new URLSearchParams({ sort, ...(q && { q }), ...(type && { type }), ...(cursor && { cursor }) })}`
}
