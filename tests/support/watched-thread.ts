import { foldChunks, type LiveChunk } from "#server/chat/contract.ts"
import type { LiveMessage, LiveTurn } from "#server/chat/read-operations.ts"
import type { Change, CommitEvent, SnapshotEvent } from "../../live/protocol/contract.ts"
import type { TidelineApp } from "./app.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "./live.ts"
import type { Person } from "./people.ts"

const QUERIES = ["chat.listMessages", "chat.listTurns", "chat.listChunks"]

/** The records of a conversation, as a page that follows it over a socket has them. */
export async function watchThread(app: TidelineApp, person: Person, threadId: string) {
  const socket = await openLiveSocket(app, await realtimeToken(person))
  for (const [id, query] of QUERIES.entries()) await socket.subscribe(query, { threadId }, id)
  await socket.until(() => replay(socket.received).subscribed === QUERIES.length)

  /** Resolves as soon as the records match. */
  async function until(fits: (view: View) => boolean): Promise<View> {
    await socket
      .until(() => fits(viewOf(replay(socket.received))))
      .catch((cause: unknown) => {
        const records = JSON.stringify(viewOf(replay(socket.received)))
        throw new Error(`The conversation does not fit ${String(fits)}: ${records}`, { cause })
      })
    return viewOf(replay(socket.received))
  }
  return {
    until,
    /** What it showed after each event so far. */
    history: () => socket.received.map((_, at) => viewOf(replay(socket.received.slice(0, at + 1)))),
    now: () => viewOf(replay(socket.received)),
    close: () => socket.close(),
  }
}

export interface View {
  /** The text of the latest reply: that of its message, or its chunks joined. */
  text: string
  status: LiveTurn["status"] | null
  answerId: string | null
  /** Of that reply. */
  chunks: number
  messages: number
}

type Rows = [Map<string, LiveMessage>, Map<string, LiveTurn>, Map<string, LiveChunk>]

function replay(received: LiveSocket["received"]) {
  const rows: Rows = [new Map(), new Map(), new Map()]
  let subscribed = 0
  for (const { name, event } of received) {
    if (name === "commit") for (const change of (event as CommitEvent).changes) apply(rows, change)
    if (name !== "snapshot") continue
    for (const each of (event as SnapshotEvent).subscriptions) {
      subscribed += 1
      if (each.kind === "rows")
        for (const row of each.rows) apply(rows, [each.id, "put", row._id, { ...row }])
      else for (const change of each.changes) apply(rows, change)
    }
  }
  return { rows, subscribed }
}

function apply(rows: Rows, [id, op, key, row]: Change) {
  const table = rows[id] as Map<string, unknown> | undefined
  if (op === "remove") table?.delete(key)
  else if (op === "put") table?.set(key, { _id: key, ...row })
  else table?.set(key, { ...(table.get(key) as object), ...row })
}

function viewOf({ rows: [messages, turns, chunks] }: ReturnType<typeof replay>): View {
  const turn = [...turns.values()].toSorted((one, other) => (one._id < other._id ? -1 : 1)).at(-1)
  const pieces = [...chunks.values()].filter(({ turnId }) => turnId === turn?._id)
  const content = (turn && messages.get(turn._id)?.content) ?? ""
  return {
    text: content + foldChunks(pieces).content,
    status: turn?.status ?? null,
    answerId: turn?._id ?? null,
    chunks: pieces.length,
    messages: messages.size,
  }
}
