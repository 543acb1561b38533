import type postgres from "postgres"
import { ReferenceClient, type Followed } from "../realtime/support/client.ts"
import { catchUp } from "../realtime/support/oracle.ts"
import { realtimeToken } from "./live.ts"
import type { Person } from "./people.ts"

/** Milliseconds. Allows for faults, on a busy machine. */
const TIMEOUT = 60_000
/** A token is valid for a minute. */
const TOKEN_RENEWAL = 15_000
/** Longer than any test. */
const FOR_EVER = 2 ** 31 - 1

export interface ReturningSocket {
  person: Person
  client: ReferenceClient
  /** How many processes said goodbye, and how many connections ended without. */
  ended: { goodbyes: number; losses: number }
  /**
   * Resolves with the rows that it shows, by list, once it has passed everything that is committed.
   * Closes the socket.
   */
  finish(sql: postgres.Sql): Promise<{ threads: Rows; files: Rows }>
}

type Rows = ReturnType<ReferenceClient["rowsOf"]>

/** A socket that follows a person's conversations and files, and reconnects as a browser does. */
export async function openReturningSocket(origin: string, person: Person): Promise<ReturningSocket> {
  const client = new ReferenceClient(origin.replace("http", "ws"), await realtimeToken(person))
  client.keepEvents = false
  await client.connect()
  const threads = await client.follow("chat.listThreads", {})
  const files = await client.follow("files.list", {})
  const lists = [threads, files]
  const ended = { goodbyes: 0, losses: 0 }
  let isOver = false
  const coming = comeBack()
  const renewal = setInterval(() => void renewToken().catch(() => {}), TOKEN_RENEWAL).unref()
  return {
    person,
    client,
    ended,
    async finish(sql) {
      const isLive = () => client.connected && lists.every(({ state }) => state === "live")
      await client.until(isLive, "all lists", TIMEOUT).catch((error: unknown) => {
        const states = lists.map(({ query, state, refusal }) => ({ query, state, refusal }))
        throw new Error(JSON.stringify({ connected: client.connected, states, ended }), { cause: error })
      })
      await catchUp(sql, client)
      isOver = true
      clearInterval(renewal)
      client.close()
      await coming
      return { threads: client.rowsOf(threads), files: client.rowsOf(files) }
    },
  }

  async function comeBack() {
    for (;;) {
      await client.until(() => !client.connected || lists.some(isWanting), "something to repair", FOR_EVER)
      if (isOver) return
      if (client.connected) await renew()
      else await reconnect()
    }
  }

  /**
   * Long before the current one expires. If nobody replies, the next renewal or the next connection
   * gets a new one.
   */
  async function renewToken() {
    if (client.connected) await client.ask("authenticate", { token: await realtimeToken(person) })
  }

  /** A snapshot may be refused for a moment: a client waits before it asks again. */
  async function renew() {
    if (lists.some(({ refusal }) => refusal)) await pause(500)
    await client.renew()
  }

  async function reconnect() {
    if (client.goodbye?.reason === "draining") ended.goodbyes += 1
    else ended.losses += 1
    for (;;) {
      try {
        client.token = await realtimeToken(person)
        // Lists that were revoked with an old token are read again.
        for (const list of lists) if (list.state === "revoked") list.state = "reset"
        return await client.resume()
      } catch {
        // No process is listening, or it is shutting down: a client waits before it retries.
        await pause(100)
      }
    }
  }
}

/** Whether it must be subscribed to again. */
function isWanting({ state, refusal }: Followed): boolean {
  return state === "reset" || (state === "waiting" && refusal?.retryAfter !== undefined)
}

function pause(milliseconds: number) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
