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
import type { LiveRow, Loaded } from "../protocol/contract.ts"
import { CONNECTING, keyOf, LiveClient, type Freshness } from "./client.ts"
import { createDeferredLink } from "./deferred-link.ts"
import type { Link } from "./link.ts"
import { createPages, type PagedList } from "./pages.ts"

const LiveContext = createContext<LiveClient | null>(null)

/** Milliseconds between attempts to load the link's code, randomly up to twice as long. */
const RETRY = 5000

/** Loads a module. A better one than a plain call tries again in a way that browsers do not. */
type Load = <Module>(load: () => Promise<Module>) => Promise<Module>

interface LiveProviderProps {
  /** The user, by the identity provider's id; use it as the key too. */
  userId: string
  load?: Load
  children: ReactNode
}

/** Provides the live records of one user. Connects after hydration. */
export function LiveProvider({ userId, load = loadPlainly, children }: LiveProviderProps) {
  // Created on the first render, so that connecting causes no other render, and nothing done before
  // is lost.
  const [{ client, link }] = useState(createWaitingClient)

  useEffect(() => {
    let retry: ReturnType<typeof setTimeout> | undefined
    let ended = false
    const open = () =>
      openLink(userId, load).then(
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
  }, [userId, load, link])

  return <LiveContext value={client}>{children}</LiveContext>
}

const loadPlainly: Load = (load) => load()

function createWaitingClient() {
  const link = createDeferredLink()
  return { link, client: new LiveClient(link) }
}

/**
 * One socket for all tabs if the browser has shared workers and locks, otherwise one for this page.
 */
async function openLink(userId: string, load: Load): Promise<Link> {
  if ("SharedWorker" in window && "locks" in navigator) {
    try {
      const { openSharedLink } = await load(() => import("./shared-link.ts"))
      return await openSharedLink(userId)
    } catch (error) {
      console.warn("This browser does not share a connection between tabs:", error)
    }
  }
  const [{ SocketLink }, { fetchToken }] = await Promise.all([
    load(() => import("./socket-link.ts")),
    load(() => import("./token.ts")),
  ])
  return new SocketLink({ origin: location.origin, fetchToken: () => fetchToken(userId) })
}

/** For what has no hook of its own here. */
export function useClient(): LiveClient {
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
    // A loader that ran again returns another object for the same subscription; `adopt` handles it.
    // oxlint-disable-next-line react/exhaustive-deps
    [client, key],
  )
  useEffect(() => client.adopt(loaded), [client, loaded])
  const rows = () => client.rows(loaded)
  return useSyncExternalStore(watch, rows, () => loaded.rows) as readonly Row[]
}

/**
 * Like `useLive`, for a paginated query: `loadMore` adds the next page. `argsAfter` returns the
 * arguments of a page from the `end` of the one before, `after` beside those of the first if it is
 * not given. All pages are live, unless `open` returns a
 * list whose pages come from elsewhere.
 */
export function useLivePages<Row extends LiveRow>(
  loaded: Loaded<Row>,
  argsAfter: (end: string) => unknown = (end) => ({ ...Object(loaded.args), after: end }) as unknown,
  open: (client: LiveClient, first: Loaded, argsAfter: (end: string) => unknown) => PagedList = createPages,
) {
  const client = useClient()
  const key = keyOf(loaded)
  const pages = useMemo(
    () => open(client, loaded, argsAfter),
    // As above; and the others depend only on the first page's arguments.
    // oxlint-disable-next-line react/exhaustive-deps
    [client, key],
  )
  const { rows, hasMore, isLoading } = useSyncExternalStore(
    useCallback((changed: () => void) => pages.watch(changed), [pages]),
    () => pages.shown(),
    () => pages.shown(),
  )
  useEffect(() => client.adopt(loaded), [client, loaded])
  return {
    rows: rows as readonly Row[],
    hasMore,
    isLoading,
    loadMore: pages.loadMore,
    readAgain: pages.readAgain,
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

/** Connects immediately, even if nobody was signed in at the last attempt. */
export function useReconnect(): () => void {
  return useClient().wake
}

/** Whether the rows currently follow the database. */
export function useIsLive(): boolean {
  const { watchFreshness, freshness } = useClient()
  return useSyncExternalStore(
    watchFreshness,
    () => freshness().state === "live",
    () => false,
  )
}
