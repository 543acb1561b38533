import type { Client } from "./client.ts"
import type {
  Change,
  CommitEvent,
  LiveRow,
  ResetEvent,
  RevokedEvent,
  SnapshotEvent,
} from "../protocol/contract.ts"
import type { Hub } from "./hub.ts"
import type { Question } from "./load.ts"
import { Outbox } from "./outbox.ts"
import type { Subscriber } from "./subscribe.ts"

/** Milliseconds to wait before subscribing again, if the refusal gives no time. */
const PAUSE = 5000

export interface FollowOptions<Viewer> {
  /** The viewer, if the query needs one. */
  viewer?: Viewer
  /** Called each time the subscription is refused. It is retried until stopped. */
  refused?: () => void
}

/**
 * Follows one query from inside the process: the same subscription as a socket's, without a socket.
 * `onRows` receives all rows, unordered, after the first read and after every commit that touched
 * them. Returns a function that stops it.
 */
export function follow(
  { hub, subscriber }: { hub: Hub; subscriber: Subscriber },
  question: Question,
  onRows: (rows: readonly LiveRow[]) => void,
  { viewer = null, refused: refuse = () => {} }: FollowOptions<unknown> = {},
): () => void {
  let id = 0
  let rows = new Map<string, LiveRow>()
  let incoming = new Map<string, LiveRow>()
  let pause: NodeJS.Timeout | undefined
  const outbox = new Outbox(receive, () => performance.now())
  const client: Client = {
    outbox,
    userId: "",
    viewer,
    coalesce() {},
    subscriptions: new Map(),
    pending: new Map(),
    closed: false,
  }
  hub.clients.add(client)
  void subscribe()
  return () => {
    clearTimeout(pause)
    hub.leave(client)
  }

  async function subscribe(): Promise<void> {
    id += 1
    incoming = new Map()
    const { refused } = await subscriber.subscribe(client, [{ id, ...question }])
    const error = refused[0]?.error
    if (!error || client.closed) return
    refuse()
    if (client.closed) return
    pause = setTimeout(() => void subscribe(), error.retryAfter ?? PAUSE)
    pause.unref()
  }

  /** A message as the outbox writes it for a socket: `2["event",{...}]`. */
  function receive(frame: string): void {
    const [event, message] = JSON.parse(frame.slice(1)) as
      | ["snapshot", SnapshotEvent]
      | ["commit", CommitEvent]
      | ["reset", ResetEvent]
      | ["revoked", RevokedEvent]
      | ["position", { sequence: number }]
    // The outbox is still counting what it has just sent.
    queueMicrotask(() => outbox.acknowledge(message.sequence))
    if (event === "snapshot") take(message)
    else if (event === "commit") change(message.changes)
    // The rows are kept until new ones arrive.
    else if (event !== "position" && message.ids.includes(id)) void subscribe()
  }

  function take({ subscriptions, more }: SnapshotEvent): void {
    for (const part of subscriptions) {
      if (part.id === id && part.kind === "rows") for (const row of part.rows) incoming.set(row._id, row)
    }
    if (more) return
    rows = incoming
    onRows([...rows.values()])
  }

  function change(changes: readonly Change[]): void {
    for (const [subscription, op, key, row] of changes) {
      if (subscription !== id) continue
      if (op === "remove") rows.delete(key)
      else if (op === "put") rows.set(key, { ...row, _id: key })
      else rows.set(key, { ...rows.get(key), ...row, _id: key })
    }
    onRows([...rows.values()])
  }
}
