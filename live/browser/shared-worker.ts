/// <reference lib="webworker" />
import type { Link, LinkEvent, LinkState } from "./link.ts"
import type { TabMessage, WorkerMessage } from "./shared-link.ts"
import { SocketLink } from "./socket-link.ts"
import { fetchToken } from "./token.ts"

declare const self: SharedWorkerGlobalScope

/**
 * A tab numbers its subscriptions from 1; on the shared connection each gets a number of its own.
 */
interface Tab {
  port: MessagePort
  shared: Map<number, number>
}

const tabs = new Set<Tab>()
const owners = new Map<number, { tab: Tab; id: number }>()
/** Open while there is a tab. */
let link: Link | undefined
let state: LinkState = "connecting"
let nextId = 1

self.addEventListener("connect", ({ ports: [port] }) => {
  if (!port) return
  const tab: Tab = { port, shared: new Map() }
  tabs.add(tab)
  link ??= open()
  port.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => {
    if (tabs.has(tab) && link) void obey(tab, link, data)
  })
  port.start()
  tell(tab, { kind: "state", state })
})

self.addEventListener("online", () => link?.wake())

/** The worker's name is the id of the user whose tabs it serves. */
function open(): Link {
  const opened = new SocketLink({ origin: self.location.origin, fetchToken: () => fetchToken(self.name) })
  opened.listen({
    changed(to) {
      state = to
      if (to === "up") {
        owners.clear()
        for (const tab of tabs) tab.shared.clear()
      }
      for (const tab of tabs) tell(tab, { kind: "state", state: to })
    },
    received(event) {
      for (const tab of tabs) {
        const part = partFor(tab, event)
        if (part) tell(tab, { kind: "event", event: part })
      }
      if (event[0] === "reset" || event[0] === "revoked") disown(event[1].ids)
    },
  })
  return opened
}

function tell(tab: Tab, message: WorkerMessage) {
  tab.port.postMessage(message)
}

async function obey(tab: Tab, to: Link, message: TabMessage) {
  switch (message.kind) {
    case "hello":
      await navigator.locks.request(message.lock, () => leave(tab))
      break
    case "bye":
      leave(tab)
      break
    case "subscribe": {
      const subscriptions = message.subscriptions.map((item) => ({ ...item, id: share(tab, item.id) }))
      const answer = await to.subscribe(subscriptions).catch(() => undefined)
      const value = answer && {
        accepted: answer.accepted.flatMap((id) => own(tab, id) ?? []),
        refused: answer.refused.flatMap(({ id, error }) => {
          const mine = own(tab, id)
          return mine === undefined ? [] : [{ id: mine, error }]
        }),
        ...(answer.error && { error: answer.error }),
      }
      disown(answer?.refused.map(({ id }) => id) ?? [])
      tell(tab, { kind: "answer", call: message.call, value })
      break
    }
    case "unsubscribe":
      drop(tab, message.ids)
      break
    case "call": {
      const [name, said] = message.said
      // An id that the tab no longer has is refused by the server.
      const ours = "id" in said ? { ...said, id: tab.shared.get(said.id) ?? -1 } : said
      const answer = to.call(name as "join", ours as never)
      tell(tab, { kind: "answer", call: message.call, value: await answer.catch(() => undefined) })
      break
    }
    case "await":
      to.await(message.lsn)
      break
    case "wake":
      to.wake()
      break
  }
}

function share(tab: Tab, id: number): number {
  const shared = nextId++
  owners.set(shared, { tab, id })
  tab.shared.set(id, shared)
  return shared
}

function own(tab: Tab, shared: number): number | undefined {
  const owner = owners.get(shared)
  return owner?.tab === tab ? owner.id : undefined
}

function drop(tab: Tab, ids: Iterable<number>) {
  const shared = [...ids].flatMap((id) => tab.shared.get(id) ?? [])
  disown(shared)
  if (shared.length > 0) link?.unsubscribe(shared)
}

function disown(shared: readonly number[]) {
  for (const each of shared) {
    const owner = owners.get(each)
    owner?.tab.shared.delete(owner.id)
    owners.delete(each)
  }
}

function leave(tab: Tab) {
  if (!tabs.delete(tab)) return
  drop(tab, [...tab.shared.keys()])
  tab.port.close()
  if (tabs.size > 0) return
  link?.close()
  link = undefined
  state = "connecting"
  owners.clear()
}

/**
 * The part of an event that concerns this tab, in its own numbers. Positions, and the xids that
 * settle mutations, concern all tabs.
 */
function partFor(tab: Tab, [name, event]: LinkEvent): LinkEvent | undefined {
  switch (name) {
    case "position":
      return [name, event]
    case "commit": {
      const changes = event.changes.flatMap((change) => {
        const id = own(tab, change[0])
        return id === undefined ? [] : [change.with(0, id) as typeof change]
      })
      return [name, { ...event, changes }]
    }
    case "snapshot": {
      const subscriptions = event.subscriptions.flatMap((part) => {
        const id = own(tab, part.id)
        return id === undefined ? [] : [{ ...part, id }]
      })
      return [name, { ...event, subscriptions }]
    }
    case "message":
    case "members": {
      const id = own(tab, event.id)
      return id === undefined ? undefined : ([name, { ...event, id }] as LinkEvent)
    }
    case "reset":
    case "revoked": {
      const ids = event.ids.flatMap((id) => own(tab, id) ?? [])
      return ids.length > 0 ? ([name, { ...event, ids }] as LinkEvent) : undefined
    }
  }
}
