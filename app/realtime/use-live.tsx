import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
  type ReactNode,
} from "react"
import { importAgain } from "#app/ui/import-again.ts"
import type { LiveRow, Loaded } from "#server/realtime/contract.ts"
import { CONNECTING, createLiveClient, keyOf, type Freshness, type LiveClient } from "./client.ts"
import { createDeferredLink } from "./deferred-link.ts"
import type { Link } from "./link.ts"
import { createPages, firstPage } from "./pages.ts"

const LiveContext = createContext<LiveClient | null>(null)

/**
 * What could not be fetched is tried for again after so long, by chance up to twice. Milliseconds.
 */
const RETRY = 5000

/**
 * The live records of one user, by the identity provider's id: give it that as its key. It connects
 * when the page has come alive.
 */
export function LiveProvider({ userId, children }: { userId: string; children: ReactNode }) {
  // From the first rendering on, so that nothing is drawn again when the connection stands, and
  // nothing that is pressed before is lost.
  const [{ client, link }] = useState(createWaitingClient)

  useEffect(() => {
    let retry: ReturnType<typeof setTimeout> | undefined
    let ended = false
    const open = () =>
      openLink(userId).then(
        (opened) => (ended ? opened.close() : link.connectTo(opened)),
        (error: unknown) => {
          if (ended) return
          console.warn("The live connection could not be opened, and is tried for again:", error)
          link.fail()
          retry = setTimeout(() => void open(), RETRY * (1 + Math.random()))
        },
      )
    void open()
    const wake = () => void (document.visibilityState === "visible" && link.wake())
    const signals = [
      [window, "online"],
      [window, "pageshow"],
      [document, "visibilitychange"],
    ] as const
    for (const [target, name] of signals) target.addEventListener(name, wake)
    return () => {
      ended = true
      clearTimeout(retry)
      for (const [target, name] of signals) target.removeEventListener(name, wake)
      link.close()
    }
  }, [userId, link])

  return <LiveContext value={client}>{children}</LiveContext>
}

function createWaitingClient() {
  const link = createDeferredLink()
  return { link, client: createLiveClient(link) }
}

/**
 * One socket for all tabs where the browser has shared workers and locks, else one for this page.
 */
async function openLink(userId: string): Promise<Link> {
  if ("SharedWorker" in window && "locks" in navigator) {
    try {
      const { openSharedLink } = await importAgain(() => import("./shared-link.ts"))
      return await openSharedLink(userId)
    } catch (error) {
      console.warn("This browser does not share a connection between tabs:", error)
    }
  }
  const [{ openSocketLink }, { fetchToken }] = await Promise.all([
    importAgain(() => import("./socket-link.ts")),
    importAgain(() => import("./token.ts")),
  ])
  return openSocketLink({ origin: location.origin, fetchToken: () => fetchToken(userId) })
}

function useClient(): LiveClient {
  const client = useContext(LiveContext)
  if (!client) throw new Error("Live records need a LiveProvider around them.")
  return client
}

/**
 * The rows that a loader returned, kept equal to the database from then on. On the server and in
 * the first render they are the loader's own. Rows that did not change keep their identity.
 */
export function useLive<Row extends LiveRow>(loaded: Loaded<Row>): readonly Row[] {
  const client = useClient()
  const key = keyOf(loaded)
  const watch = useCallback(
    (changed: () => void) => {
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
  useEffect(() => client.adopt(loaded), [client, loaded])
  const rows = () => client.rows(loaded)
  return useSyncExternalStore(watch, rows, () => loaded.rows) as readonly Row[]
}

/**
 * As `useLive`, for a query that answers in pages: `loadMore` adds the next one. `argsAfter` makes
 * its arguments from the `end` of the page before. All pages are live.
 */
export function useLivePages<Row extends LiveRow>(loaded: Loaded<Row>, argsAfter: (end: string) => unknown) {
  const client = useClient()
  const key = keyOf(loaded)
  const [wanted, setWanted] = useState(1)
  const [rendered] = useState(() => firstPage(loaded))
  const pages = useMemo(
    () => createPages(client, loaded, argsAfter, rendered),
    // As above; and `argsAfter` says the same as long as the first page's arguments do.
    // oxlint-disable-next-line react/exhaustive-deps
    [client, key],
  )
  const { rows, count, hasMore } = useSyncExternalStore(
    useCallback((changed: () => void) => pages.watch(changed), [pages]),
    () => pages.shown(),
    () => rendered,
  )
  useEffect(() => client.adopt(loaded), [client, loaded])
  useEffect(() => pages.want(wanted), [pages, wanted])
  return {
    rows: rows as readonly Row[],
    hasMore,
    isLoading: hasMore && wanted > count,
    loadMore: () => setWanted(count + 1),
  }
}

/** Sends named mutations; see `LiveClient.mutate`. */
export function useMutate(): LiveClient["mutate"] {
  return useClient().mutate
}

export function useFreshness(): Freshness {
  const { watchFreshness, freshness } = useClient()
  return useSyncExternalStore(watchFreshness, freshness, () => CONNECTING)
}

/** Tries at once to connect, also where nobody was signed in at the last attempt. */
export function useReconnect(): () => void {
  return useClient().wake
}

/** Whether the rows follow the database at this moment. */
export function useIsLive(): boolean {
  const { watchFreshness, freshness } = useClient()
  return useSyncExternalStore(
    watchFreshness,
    () => freshness().state === "live",
    () => false,
  )
}
