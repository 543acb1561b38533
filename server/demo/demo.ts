import type { RowOf } from "#live/contract"
import type { Scope } from "#server/scope.ts"
import { BOATS, nextState, type Boat } from "./contract.ts"
import { boatList, demoAudience } from "./live.ts"

/**
 * Limits of open streams, in total and by address: offices share an address, and so does everyone
 * behind a proxy.
 */
const STREAMS = 500
const STREAMS_PER_ADDRESS = 40
/** Milliseconds. EventSource reconnects automatically. */
const LONGEST = 10 * 60_000
const BETWEEN_BEATS = 15_000
/** Milliseconds that the response to a change waits to include the change. */
const CHANGE_TIMEOUT = 500

/**
 * The viewers of the demo: one subscription for the process, whose rows are sent to all of them.
 */
export interface Demo {
  /** The latest rows. */
  boats(): readonly Boat[]
  /**
   * The boats as server-sent events until the client disconnects. Each event contains all of them.
   * Null if too many clients are connected.
   */
  watch(address: string): ReadableStream<Uint8Array> | null
  /** Resolves when the boats have changed, or after a short time. */
  changed(): Promise<void>
  close(): void
}

declare module "#server/scope.ts" {
  interface Services {
    /** Null if the operator turned it off. */
    demo: Demo | null
  }
}

interface Watcher {
  send(event: Uint8Array): void
  end(): void
  readonly since: number
}

export function openDemoStreams({ live }: Scope<"live">): Demo {
  let boats: readonly Boat[] = BOATS
  /** Connections that follow the boats, in every process. */
  let audience = 0
  let event = eventOf(boats, audience)
  const watchers = new Set<Watcher>()
  const perAddress = new Map<string, number>()
  const waiting = new Set<() => void>()

  const unfollow = live.follow({ query: boatList.name, args: {} }, (rows) => {
    // The engine delivers rows of the query that was named.
    boats = inOrder(rows as readonly RowOf<typeof boatList>[])
    sendAll()
    for (const resolve of waiting) resolve()
  })
  const represented = live.represent({ name: demoAudience.name, args: {} }, (count) => {
    audience = count
    sendAll()
  })
  const beating = setInterval(beat, BETWEEN_BEATS)
  beating.unref()

  return {
    boats: () => boats,
    watch(address) {
      const count = perAddress.get(address) ?? 0
      if (watchers.size >= STREAMS || count >= STREAMS_PER_ADDRESS) return null
      perAddress.set(address, count + 1)
      const stream = openStream(watchers, event, () => leave(address))
      represented.count(watchers.size)
      return stream
    },
    changed() {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      const timer = setTimeout(resolve, CHANGE_TIMEOUT)
      return promise.finally(() => {
        clearTimeout(timer)
        waiting.delete(resolve)
      })
    },
    close() {
      clearInterval(beating)
      unfollow()
      for (const watcher of watchers) watcher.end()
    },
  }

  function sendAll() {
    event = eventOf(boats, audience)
    for (const watcher of watchers) watcher.send(event)
  }

  function leave(address: string) {
    represented.count(watchers.size)
    const left = (perAddress.get(address) ?? 1) - 1
    if (left > 0) perAddress.set(address, left)
    else perAddress.delete(address)
  }

  /** Keeps idle connections open, and detects closed ones. */
  function beat() {
    for (const watcher of watchers) {
      if (performance.now() - watcher.since > LONGEST) watcher.end()
      else watcher.send(BEAT)
    }
  }
}

const encoder = new TextEncoder()
const BEAT = encoder.encode(": still here\n\n")

/** Everything there is, so that a slow reader can skip those in between. */
function eventOf(boats: readonly Boat[], audience: number): Uint8Array {
  const shown = boats.map((boat) => ({ ...boat, next: nextState(boat.state) }))
  return encoder.encode(
    `retry: 3000\nevent: boats\ndata: ${JSON.stringify(shown)}\n\nevent: audience\ndata: ${audience}\n\n`,
  )
}

/** In the order of the list, whatever order they were written in. */
function inOrder(rows: readonly RowOf<typeof boatList>[]): Boat[] {
  return BOATS.flatMap(({ name }) => rows.filter((row) => row.name === name)).map(
    ({ name, state, lamp }) => ({
      name,
      state,
      lamp,
    }),
  )
}

/**
 * Every event has the whole state, so a slow reader receives the latest one and skips those in
 * between.
 */
function openStream(watchers: Set<Watcher>, first: Uint8Array, left: () => void): ReadableStream<Uint8Array> {
  let next: Uint8Array | null = null
  let watcher: Watcher
  const leave = () => {
    if (watchers.delete(watcher)) left()
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      watcher = {
        since: performance.now(),
        send(event) {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(event)
          else if (event !== BEAT) next = event
        },
        end() {
          leave()
          controller.close()
        },
      }
      watchers.add(watcher)
      controller.enqueue(first)
    },
    pull(controller) {
      if (!next) return
      controller.enqueue(next)
      next = null
    },
    cancel: leave,
  })
}
