import { useEffect, useRef, useState, useSyncExternalStore } from "react"
import { href } from "react-router"
import { useLive } from "#app/realtime/use-live.tsx"
import type { FilePage, FileSummary, ListFiles, StoredUsage } from "#server/files/contract.ts"
import type { LiveRow, Loaded } from "#server/realtime/contract.ts"
import { send } from "#app/routes/dashboard/send.ts"
import { createFilePages, type FilePageStore } from "./file-pages.ts"

/** Lists that were left, so that going back restores them at their full length. */
const remembered = new Map<string, FilePageStore>()
const MOST_REMEMBERED = 4

/** Milliseconds. Changes within this time cause one reload. */
const REREAD_AFTER = 150

/**
 * The files of a list, as far as it has been scrolled. The newest files are live. Lists in another
 * order, searches and filtered lists are loaded again when `usage` shows that the user's files have
 * changed.
 */
export function useFilePages(
  first: FilePage,
  query: ListFiles,
  live: Loaded<FileSummary> | null,
  usage: Loaded<StoredUsage>,
): FilePageStore {
  const store = useStore(first, query)
  const rows = useLive<LiveRow>(live ?? usage)
  useEffect(() => {
    // With `live` set, the rows are files; otherwise they are of `usage`.
    if (live) store.replace(0, rows as readonly FileSummary[])
  }, [live, rows, store])
  useEffect(() => {
    if (live) return
    store.replace(0, first.files, first.nextCursor)
    store.age()
  }, [live, first, store])
  const known = useRef(rows)
  useEffect(() => {
    if (live || known.current === rows) return
    known.current = rows
    const timer = setTimeout(() => void store.reread(), REREAD_AFTER)
    return () => clearTimeout(timer)
  }, [live, rows, store])
  return store
}

export function useShownFiles(store: FilePageStore) {
  return useSyncExternalStore(store.watch, store.shown, store.shown)
}

/**
 * Kept while the list is the same, and after it was left. On the server nothing is ever remembered.
 */
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
  return createFilePages(first, (cursor = query.cursor) =>
    send<FilePage>("GET", `${href("/api/files")}${addressOf(query, cursor)}&limit=100`),
  )
}

/** The query string of a list: `?sort=name&q=tides`. */
export function addressOf({ q, sort, type }: Pick<ListFiles, "q" | "sort" | "type">, cursor?: string) {
  return `?${new URLSearchParams({ sort, ...(q && { q }), ...(type && { type }), ...(cursor && { cursor }) })}`
}
