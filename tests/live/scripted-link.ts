import type { MutateAnswer, Refusal, SubscribeItem } from "../../live/protocol/contract.ts"
import { ConnectionLost } from "../../live/browser/connection-lost.ts"
import type { Call, Link, LinkEvent, LinkListener } from "../../live/browser/link.ts"

/** A link with the test at its other end: it sees what the client sends and plays the server. */
export function scriptedLink() {
  let listener: LinkListener = { changed() {}, received() {} }
  let sequence = 0
  let refusal: Refusal | undefined
  let held: PromiseWithResolvers<void> | undefined
  const subscribed: SubscribeItem[] = []
  const unsubscribed: number[] = []
  const awaited: string[] = []
  const joined: { id: number; channel: string }[] = []
  const told: Call[] = []
  const sent: {
    mutation: string
    args: unknown
    mutationId: string
    answer(given: MutateAnswer): void
    lose(): void
  }[] = []

  const link: Link = {
    listen: (given) => void (listener = given),
    subscribe: async (items) => {
      subscribed.push(...items)
      await held?.promise
      return refusal
        ? { accepted: [], refused: items.map(({ id }) => ({ id, error: refusal as Refusal })) }
        : { accepted: items.map(({ id }) => id), refused: [] }
    },
    unsubscribe: (ids) => void unsubscribed.push(...ids),
    call: (name, message) => called([name, message] as unknown as Call) as Promise<never>,
    await: (lsn) => void awaited.push(lsn),
    wake() {},
    close() {},
  }

  async function called([name, message]: Call): Promise<unknown> {
    switch (name) {
      case "query":
        throw new ConnectionLost()
      case "mutate": {
        const { promise, resolve, reject } = Promise.withResolvers<MutateAnswer>()
        sent.push({ ...message, answer: resolve, lose: () => reject(new ConnectionLost()) })
        return promise
      }
      case "join":
        joined.push(message)
        return { value: { member: `me${joined.length}`, members: [`me${joined.length}`], count: 1 } }
      case "leave":
      case "broadcast":
        told.push([name, message] as Call)
        return null
    }
  }

  return {
    link,
    subscribed,
    unsubscribed,
    awaited,
    joined,
    told,
    sent,
    up: () => listener.changed("up"),
    down: () => listener.changed("down"),
    signOut: () => listener.changed("signed-out"),
    /** Holds back the replies to new subscriptions until the returned function is called. */
    holdAnswers() {
      const holding = (held = Promise.withResolvers<void>())
      return () => {
        held = undefined
        holding.resolve()
      }
    },
    /** Refuses every subscription from now on. */
    refuse: (error: Refusal) => void (refusal = error),
    say: (...[name, event]: DistributedSay) => {
      sequence += 1
      listener.received([name, { ...event, sequence }] as LinkEvent)
    },
  }
}

type DistributedSay = LinkEvent extends infer Event
  ? Event extends [infer Name, infer Payload]
    ? [name: Name, event: Omit<Payload, "sequence">]
    : never
  : never
