import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
  type ReactNode,
} from "react"
import type { LiveRow, Loaded } from "#server/realtime/contract.ts"
import { createLiveClient, type Freshness, type LiveClient } from "./client.ts"
import type { Link } from "./link.ts"

const LiveContext = createContext<LiveClient | null>(null)

/** Opens the connection when the page has come alive. `viewerId` parts the users of one browser from each other. */
export function LiveProvider({ viewerId, children }: { viewerId: string; children: ReactNode }) {
  const [client, setClient] = useState<LiveClient | null>(null)

  useEffect(() => {
    let ended = false
    let opened: LiveClient | undefined
    void openLink(viewerId).then((link) => {
      if (ended) return link.close()
      opened = createLiveClient(link)
      setClient(opened)
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
  }, [viewerId])

  return <LiveContext value={client}>{children}</LiveContext>
}

/** One socket for all tabs where the browser has shared workers and locks, else one for this page. */
async function openLink(viewerId: string): Promise<Link> {
  if ("SharedWorker" in window && "locks" in navigator) {
    try {
      const { openSharedLink } = await import("./shared-link.ts")
      return openSharedLink(`tideline ${viewerId}`)
    } catch (error) {
      console.warn("This browser does not share a connection between tabs:", error)
    }
  }
  const [{ openSocketLink }, { fetchToken }] = await Promise.all([
    import("./socket-link.ts"),
    import("./token.ts"),
  ])
  return openSocketLink({ origin: location.origin, fetchToken })
}

/**
 * The rows that a loader returned, kept equal to the database from then on. On the server and in the first render they are the
 * loader's own. Rows that did not change keep their identity.
 */
export function useLive<Row extends LiveRow>(loaded: Loaded<Row>): readonly Row[] {
  const client = useContext(LiveContext)
  const key = `${loaded.query} ${JSON.stringify(loaded.args)}`
  const watch = useCallback(
    (changed: () => void) => {
      if (!client) return () => {}
      const release = client.hold(loaded)
      const unwatch = client.collection(loaded).watch(changed)
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
  const rows = () => (client ? client.collection(loaded).rows() : loaded.rows)
  return useSyncExternalStore(watch, rows, () => loaded.rows) as readonly Row[]
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
