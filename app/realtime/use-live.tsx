import {
  createContext,
  startTransition,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
  type ReactNode,
} from "react"
import type { LiveRow, Loaded } from "#server/realtime/contract.ts"
import { createLiveClient, keyOf, type Freshness, type LiveClient } from "./client.ts"
import type { Link } from "./link.ts"
import { createPages, firstPage } from "./pages.ts"

const LiveContext = createContext<LiveClient | null>(null)

/** Opens the connection when the page has come alive, for the user of this page alone: `userId` is the identity provider's id. */
export function LiveProvider({ userId, children }: { userId: string; children: ReactNode }) {
  const [client, setClient] = useState<LiveClient | null>(null)

  useEffect(() => {
    let ended = false
    let opened: LiveClient | undefined
    void openLink(userId).then((link) => {
      if (ended) return link.close()
      const made = createLiveClient(link)
      opened = made
      // All that is live looks at it: in pieces, so that nothing that is pressed meanwhile has to wait.
      startTransition(() => setClient(made))
    })
    const wake = () => void (document.visibilityState === "visible" && opened?.wake())
    const signals = [
      [window, "online"],
      [window, "pageshow"],
      [document, "visibilitychange"],
    ] as const
    for (const [target, name] of signals) target.addEventListener(name, wake)
    return () => {
      ended = true
      for (const [target, name] of signals) target.removeEventListener(name, wake)
      opened?.close()
      setClient(null)
    }
  }, [userId])

  return <LiveContext value={client}>{children}</LiveContext>
}

/** One socket for all tabs where the browser has shared workers and locks, else one for this page. */
async function openLink(userId: string): Promise<Link> {
  if ("SharedWorker" in window && "locks" in navigator) {
    try {
      const { openSharedLink } = await import("./shared-link.ts")
      return await openSharedLink(userId)
    } catch (error) {
      console.warn("This browser does not share a connection between tabs:", error)
    }
  }
  const [{ openSocketLink }, { fetchToken }] = await Promise.all([
    import("./socket-link.ts"),
    import("./token.ts"),
  ])
  return openSocketLink({ origin: location.origin, fetchToken: () => fetchToken(userId) })
}

/**
 * The rows that a loader returned, kept equal to the database from then on. On the server and in the first render they are the
 * loader's own. Rows that did not change keep their identity.
 */
export function useLive<Row extends LiveRow>(loaded: Loaded<Row>): readonly Row[] {
  const client = useContext(LiveContext)
  const key = keyOf(loaded)
  const watch = useCallback(
    (changed: () => void) => {
      if (!client) return () => {}
      const { collection, release } = client.hold(loaded)
      const unwatch = collection.watch(changed)
      return () => {
        unwatch()
        release()
      }
    },
    // A loader that ran again returns another object for the same subscription; `adopt` looks at it.
    // oxlint-disable-next-line react/exhaustive-deps
    [client, key],
  )
  useEffect(() => client?.adopt(loaded), [client, loaded])
  const rows = () => client?.rows(loaded) ?? loaded.rows
  return useSyncExternalStore(watch, rows, () => loaded.rows) as readonly Row[]
}

/**
 * As `useLive`, for a query that answers in pages: `loadMore` adds the next one. `argsAfter` makes its arguments from the `end` of the
 * page before. All pages are live.
 */
export function useLivePages<Row extends LiveRow>(loaded: Loaded<Row>, argsAfter: (end: string) => unknown) {
  const client = useContext(LiveContext)
  const key = keyOf(loaded)
  const [wanted, setWanted] = useState(1)
  const [rendered] = useState(() => firstPage(loaded))
  const pages = useMemo(
    () => (client ? createPages(client, loaded, argsAfter, rendered) : null),
    // As above; and `argsAfter` says the same as long as the first page's arguments do.
    // oxlint-disable-next-line react/exhaustive-deps
    [client, key],
  )
  const { rows, count, hasMore } = useSyncExternalStore(
    useCallback((changed: () => void) => pages?.watch(changed) ?? (() => {}), [pages]),
    () => pages?.shown() ?? rendered,
    () => rendered,
  )
  useEffect(() => client?.adopt(loaded), [client, loaded])
  useEffect(() => pages?.want(wanted), [pages, wanted])
  return {
    rows: rows as readonly Row[],
    hasMore,
    isLoading: hasMore && wanted > count,
    loadMore: () => setWanted(count + 1),
  }
}

/** Sends named mutations; see `LiveClient.mutate`. Null until the page has come alive. */
export function useMutate(): LiveClient["mutate"] | null {
  return useContext(LiveContext)?.mutate ?? null
}

const CONNECTING: Freshness = { state: "connecting", asOf: 0 }

export function useFreshness(): Freshness {
  const client = useContext(LiveContext)
  return useSyncExternalStore(
    useCallback((changed: () => void) => client?.watchFreshness(changed) ?? (() => {}), [client]),
    () => client?.freshness() ?? CONNECTING,
    () => CONNECTING,
  )
}

/** Whether the rows follow the database at this moment. */
export function useIsLive(): boolean {
  const client = useContext(LiveContext)
  return useSyncExternalStore(
    useCallback((changed: () => void) => client?.watchFreshness(changed) ?? (() => {}), [client]),
    () => client?.freshness().state === "live",
    () => false,
  )
}
