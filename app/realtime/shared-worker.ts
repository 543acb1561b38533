/// <reference lib="webworker" />
import type { LinkEvent, LinkState } from "./link.ts"
import type { TabMessage, WorkerMessage } from "./shared-link.ts"
import { openSocketLink } from "./socket-link.ts"
import { fetchToken } from "./token.ts"

declare const self: SharedWorkerGlobalScope

/** A tab numbers its subscriptions from 1; on the shared connection each has a number of its own. */
interface Tab {
  port: MessagePort
  shared: Map<number, number>
}

const link = openSocketLink({ origin: self.location.origin, fetchToken })
const tabs = new Set<Tab>()
const owners = new Map<number, { tab: Tab; id: number }>()
let state: LinkState = "connecting"
let nextId = 1

self.addEventListener("connect", ({ ports: [port] }) => {
  if (!port) return
  const tab: Tab = { port, shared: new Map() }
  tabs.add(tab)
  port.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => void obey(tab, data))
  port.start()
  if (state !== "connecting") tell(tab, { kind: "state", state })
})

self.addEventListener("online", link.wake)

link.listen({
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
  },
})

function tell(tab: Tab, message: WorkerMessage) {
  tab.port.postMessage(message)
}

async function obey(tab: Tab, message: TabMessage) {
  switch (message.kind) {
    case "hello":
      await navigator.locks.request(message.lock, () => leave(tab))
      break
    case "subscribe": {
      const subscriptions = message.subscriptions.map((item) => ({ ...item, id: share(tab, item.id) }))
      const answer = await link.subscribe(subscriptions).catch(() => undefined)
      const value = answer && {
        accepted: answer.accepted.flatMap((id) => own(tab, id) ?? []),
        refused: answer.refused.flatMap(({ id, error }) => {
          const mine = own(tab, id)
          return mine === undefined ? [] : [{ id: mine, error }]
        }),
      }
      tell(tab, { kind: "answer", call: message.call, value })
      break
    }
    case "unsubscribe":
      drop(tab, message.ids)
      break
    case "query":
    case "mutate": {
      const answer = message.kind === "query" ? link.query(message.message) : link.mutate(message.message)
      tell(tab, { kind: "answer", call: message.call, value: await answer.catch(() => undefined) })
      break
    }
    case "await":
      link.await(message.lsn)
      break
    case "wake":
      link.wake()
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
  for (const id of shared) owners.delete(id)
  for (const id of ids) tab.shared.delete(id)
  if (shared.length > 0) link.unsubscribe(shared)
}

function leave(tab: Tab) {
  tabs.delete(tab)
  drop(tab, [...tab.shared.keys()])
  tab.port.close()
}

/** An event as this tab may see it, in its own numbers. Positions, and the xids that settle mutations, are for everybody. */
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
    case "reset":
    case "revoked": {
      const ids = event.ids.flatMap((id) => own(tab, id) ?? [])
      return ids.length > 0 ? ([name, { ...event, ids }] as LinkEvent) : undefined
    }
  }
}
