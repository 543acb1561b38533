import type { Lsn, SubscribeAnswer, SubscribeItem } from "../protocol/contract.ts"
import type { Call, Link, LinkEvent, LinkListener, LinkState } from "./link.ts"
import { ConnectionLost } from "./connection-lost.ts"

/**
 * Messages from a tab to the worker that holds the socket. `call` expects an `answer` with the same
 * number.
 */
export type TabMessage =
  | { kind: "hello"; lock: string }
  | { kind: "subscribe"; call: number; subscriptions: SubscribeItem[] }
  | { kind: "unsubscribe"; ids: number[] }
  | { kind: "call"; call: number; said: Call }
  | { kind: "await"; lsn: Lsn }
  | { kind: "wake" }
  | { kind: "bye" }

/**
 * Messages from the worker to a tab. An `answer` without a value: the connection was lost before
 * the server replied.
 */
export type WorkerMessage =
  | { kind: "state"; state: LinkState }
  | { kind: "event"; event: LinkEvent }
  | { kind: "answer"; call: number; value?: unknown }

/**
 * The one connection of all tabs of this browser, in a shared worker. Rejects if the browser has no
 * shared workers, or cannot start this one. Each user gets a worker of their own, because a worker
 * can outlive a sign-out.
 */
export async function openSharedLink(userId: string): Promise<Link> {
  const worker = new SharedWorker(new URL("./shared-worker.ts", import.meta.url), {
    type: "module",
    name: userId,
  })
  const { port } = worker
  const calls = new Map<number, PromiseWithResolvers<unknown>>()
  const begun = Promise.withResolvers<void>()
  let listener: LinkListener = { changed() {}, received() {} }
  let state: LinkState = "connecting"
  let nextCall = 1

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
        state = data.state
        begun.resolve()
        listener.changed(state)
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
  worker.addEventListener("error", () => begun.reject(new Error("The shared worker could not be started.")))
  port.start()
  await begun.promise

  // A tab that crashes sends no goodbye, but its lock is released: the worker waits for that.
  const lock = crypto.randomUUID()
  const closing = Promise.withResolvers<void>()
  void navigator.locks.request(lock, () => {
    say({ kind: "hello", lock })
    return closing.promise
  })

  return {
    listen(given) {
      listener = given
      if (state !== "connecting") listener.changed(state)
    },
    subscribe: (subscriptions) =>
      ask<SubscribeAnswer>((call) => ({ kind: "subscribe", call, subscriptions })),
    unsubscribe: (ids) => say({ kind: "unsubscribe", ids }),
    call: (name, message) =>
      ask((call) => ({ kind: "call", call, said: [name, message] as unknown as Call })),
    await: (lsn) => say({ kind: "await", lsn }),
    wake: () => say({ kind: "wake" }),
    close() {
      say({ kind: "bye" })
      port.close()
      closing.resolve()
    },
  }
}
