import type { Candidate } from "../server.ts"

/** The messages that a client exchanges with one candidate, over any transport of text frames. */
export interface Conversation {
  opened(): void
  text(text: string): void
  join(room: string, way?: Way): void
  /** Called every few milliseconds. */
  tick(now: number): void
  /** The state from which the client can resume, if the candidate supports that. */
  standing(): Standing | null
}

/**
 * Whether anybody may follow the room, or its members; or a member's list of rooms, whichever is
 * named. Only Tideline knows members.
 */
export type Way = "inRoom" | "inSpace" | "ofMember"

export interface Standing {
  token: string
  lsn: string
}

export interface Handlers {
  send(text: string): void
  ready(): void
  joined(): void
  note(number: number): void
}

export const PATHS: Record<Candidate, string> = {
  tideline: "/realtime/?EIO=4&transport=websocket",
  floor: "/",
  notify: "/socket.io/?EIO=4&transport=websocket",
  bare: "/socket.io/?EIO=4&transport=websocket",
}

/**
 * `name` is the user's. `standing` is what a returning client has kept of the first room it joins.
 */
export function converse(
  candidate: Candidate,
  name: string,
  handlers: Handlers,
  standing: Standing | null = null,
): Conversation {
  if (candidate === "tideline") return converseWithTideline(name, handlers, standing)
  if (candidate === "floor") return converseWithFloor(handlers)
  return converseWithSocketIo(candidate, handlers)
}

interface TidelineEvent {
  sequence: number
  lsn?: string
  position?: { lsn: string }
  changes?: [number, string, string][]
  subscriptions?: { token: string; kind: string }[]
  reason?: string
}

/** Implements docs/realtime-protocol.md, with the acknowledgements that it requires. */
function converseWithTideline(name: string, handlers: Handlers, have: Standing | null): Conversation {
  let sequence = 0
  let acknowledged = 0
  let acknowledgeAt = Number.POSITIVE_INFINITY
  let nextId = 1
  let current: Standing = { token: "", lsn: "" }

  return {
    opened() {},
    text(text) {
      if (text === "2") handlers.send("3")
      else if (text.startsWith("42")) onEvent(JSON.parse(text.slice(2)))
      else if (text.startsWith("40")) handlers.ready()
      else if (text.startsWith("0")) handlers.send(`40${JSON.stringify({ version: 1, token: name })}`)
      else if (text.startsWith("44")) throw new Error(`Tideline has refused a connection: ${text}`)
    },
    join(room, way = "inRoom") {
      const item = {
        id: nextId++,
        query: `notes.${way}`,
        args: way === "ofMember" ? {} : { room },
        ...(have ? { have } : {}),
      }
      have = null
      handlers.send(`420${JSON.stringify(["subscribe", { subscriptions: [item] }])}`)
    },
    tick(now) {
      if (now >= acknowledgeAt) acknowledge()
    },
    standing: () => current,
  }

  function onEvent([event, body]: [string, TidelineEvent]): void {
    if (body.sequence !== ++sequence)
      throw new Error(`Event ${body.sequence} came where ${sequence} was due.`)
    if (event === "snapshot") {
      current = { token: body.subscriptions?.[0]?.token ?? "", lsn: body.position?.lsn ?? "" }
      handlers.joined()
    } else if (event === "commit" || event === "position") {
      current.lsn = body.lsn ?? current.lsn
      for (const [, , key] of body.changes ?? []) handlers.note(Number(key))
    } else throw new Error(`Tideline has sent ${event}: ${JSON.stringify(body)}`)
    if (sequence - acknowledged >= 16) acknowledge()
    else if (acknowledgeAt === Number.POSITIVE_INFINITY) acknowledgeAt = performance.now() + 15_000
  }

  function acknowledge(): void {
    acknowledged = sequence
    acknowledgeAt = Number.POSITIVE_INFINITY
    handlers.send(`42["acknowledge",{"sequence":${sequence}}]`)
  }
}

function converseWithFloor(handlers: Handlers): Conversation {
  return {
    opened: () => handlers.ready(),
    text(text) {
      if (text.startsWith("430")) return handlers.joined()
      const [, { changes }]: [string, { changes: [number, string, string][] }] = JSON.parse(text.slice(2))
      for (const [, , key] of changes) handlers.note(Number(key))
    },
    join: (room) => handlers.send(`420${JSON.stringify(["subscribe", room])}`),
    tick() {},
    standing: () => null,
  }
}

/** Connects to the bare server and requests nothing. */
function converseWithSocketIo(candidate: Candidate, handlers: Handlers): Conversation {
  return {
    opened() {},
    text(text) {
      if (text === "2") handlers.send("3")
      else if (text.startsWith("42")) {
        const [, { _id }]: [string, { _id: string }] = JSON.parse(text.slice(2))
        handlers.note(Number(_id))
      } else if (text.startsWith("430")) handlers.joined()
      else if (text.startsWith("40")) handlers.ready()
      else if (text.startsWith("0")) handlers.send("40")
    },
    join(room) {
      if (candidate === "bare") handlers.joined()
      else handlers.send(`420${JSON.stringify(["subscribe", room])}`)
    },
    tick() {},
    standing: () => null,
  }
}
