import { LiveClient } from "../../live/browser/client.ts"
import type { LinkListener } from "../../live/browser/link.ts"
import { SocketLink } from "../../live/browser/socket-link.ts"
import type { RealtimeToken } from "../../live/browser/token.ts"
import { now } from "../statistics.ts"
import type { Person } from "../accounts.ts"

/** When a client passed each step of its return, in ms of the monotonic clock. */
export interface Return {
  connected: number
  /** Its live query has its result, so its screen is up to date again. */
  resumed: number
  /** It shows the row that was committed after the restart. */
  seen: number
}

export interface ReturningClient {
  /** Resolves with the first result of the query. */
  opened: Promise<void>
  /** Waits until the row with this id is shown. */
  waitFor(_id: Promise<string>): Promise<Return>
  close(): void
}

/** Opens the client that pages use, with the list of the person's conversations. */
export function openReturningClient(origin: string, person: Person): ReturningClient {
  const steps = { connected: Number.NaN, resumed: Number.NaN }
  const link = new (class extends SocketLink {
    override listen(listener: LinkListener): void {
      super.listen({
        ...listener,
        changed(state) {
          if (state === "up") steps.connected = now()
          listener.changed(state)
        },
      })
    }
  })({ origin, fetchToken: () => fetchToken(origin, person) })
  const client = new LiveClient(link)
  const list = { query: "chat.listThreads", args: {}, order: [], rows: [], end: null }
  const { collection } = client.hold(list)
  const opened = new Promise<void>((resolve) => {
    client.watchFreshness(() => {
      if (client.freshness().state !== "live") return
      if (!(steps.resumed > steps.connected)) steps.resumed = now()
      resolve()
    })
  })

  return {
    opened,
    async waitFor(id) {
      const _id = await id
      const isShown = () => collection.rows().some((row) => row._id === _id)
      const seen = await new Promise<number>((resolve) => {
        const look = () => {
          if (isShown()) resolve(now())
        }
        collection.watch(look)
        look()
      })
      return { ...steps, seen }
    },
    close: () => client.close(),
  }
}

async function fetchToken(origin: string, { cookie, address }: Person): Promise<RealtimeToken> {
  const response = await fetch(`${origin}/api/realtime/token`, {
    headers: { cookie, "x-forwarded-for": address },
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`The request for a token was answered with ${response.status}.`)
  const { token, expiresAt } = (await response.json()) as { token: string; expiresAt: number }
  return { token, lifetime: expiresAt - Date.now() }
}
