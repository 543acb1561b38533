import type {
  Lsn,
  MutateAnswer,
  QueryAnswer,
  SubscribeAnswer,
  SubscribeItem,
} from "#server/realtime/contract.ts"
import type { Link, LinkEvent, LinkListener, LinkState } from "./link.ts"
import { ConnectionLost } from "./connection-lost.ts"

/** What a tab says to the worker that holds the socket. `call` asks for an answer with the same number. */
export type TabMessage =
  | { kind: "hello"; lock: string }
  | { kind: "subscribe"; call: number; subscriptions: SubscribeItem[] }
  | { kind: "unsubscribe"; ids: number[] }
  | { kind: "query"; call: number; message: { query: string; args: unknown } }
  | { kind: "mutate"; call: number; message: { mutation: string; args: unknown; mutationId: string } }
  | { kind: "await"; lsn: Lsn }
  | { kind: "wake" }

/** What the worker says to a tab. `answer` without a value: the connection was lost before the server answered. */
export type WorkerMessage =
  | { kind: "state"; state: LinkState }
  | { kind: "event"; event: LinkEvent }
  | { kind: "answer"; call: number; value?: unknown }

/**
 * The one connection of all the tabs of this browser, in a shared worker. Throws where there are no shared workers.
 * `name` must differ between users: a worker outlives a sign-out.
 */
export function openSharedLink(name: string): Link {
  const worker = new SharedWorker(new URL("./shared-worker.ts", import.meta.url), { type: "module", name })
  const { port } = worker
  const calls = new Map<number, PromiseWithResolvers<unknown>>()
  let listener: LinkListener = { changed() {}, received() {} }
  let nextCall = 1
  let release: (() => void) | undefined

  const say = (message: TabMessage) => port.postMessage(message)

  function ask<Answer>(message: (call: number) => TabMessage): Promise<Answer> {
    const call = nextCall++
    const answer = Promise.withResolvers<unknown>()
    calls.set(call, answer)
    say(message(call))
    return answer.promise as Promise<Answer>
  }

  port.addEventListener("message", ({ data }: MessageEvent<WorkerMessage>) => {
    switch (data.kind) {
      case "state":
        listener.changed(data.state)
        break
      case "event":
        listener.received(data.event)
        break
      case "answer":
        if (data.value === undefined) calls.get(data.call)?.reject(new ConnectionLost())
        else calls.get(data.call)?.resolve(data.value)
        calls.delete(data.call)
        break
    }
  })
  port.start()

  // A tab that crashes says no goodbye, but its lock is free from then on: the worker waits for that.
  const lock = crypto.randomUUID()
  void navigator.locks.request(lock, () => {
    say({ kind: "hello", lock })
    return new Promise<void>((resolve) => {
      release = resolve
    })
  })

  return {
    listen(given) {
      listener = given
    },
    subscribe: (subscriptions) =>
      ask<SubscribeAnswer>((call) => ({ kind: "subscribe", call, subscriptions })),
    unsubscribe: (ids) => say({ kind: "unsubscribe", ids }),
    query: (message) => ask<QueryAnswer>((call) => ({ kind: "query", call, message })),
    mutate: (message) => ask<MutateAnswer>((call) => ({ kind: "mutate", call, message })),
    await: (lsn) => say({ kind: "await", lsn }),
    wake: () => say({ kind: "wake" }),
    close: () => release?.(),
  }
}
