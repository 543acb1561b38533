import type postgres from "postgres"
import { ReferenceClient, type Followed } from "../realtime/support/client.ts"
import { catchUp } from "../realtime/support/oracle.ts"
import { realtimeToken } from "./live.ts"
import type { Person } from "./people.ts"

/** After faults, on a machine that has other things to do. Milliseconds. */
const TIMEOUT = 60_000
/** A token is good for a minute. */
const TOKEN_RENEWAL = 15_000
/** Longer than any test. */
const FOR_EVER = 2 ** 31 - 1

export interface ReturningSocket {
  person: Person
  client: ReferenceClient
  /** How often a process said goodbye, and how often a connection ended without. */
  ended: { goodbyes: number; losses: number }
  /**
   * The rows that it shows, by list, when it has passed everything that is committed. The socket is
   * closed then.
   */
  finish(sql: postgres.Sql): Promise<{ threads: Rows; files: Rows }>
}

type Rows = ReturnType<ReferenceClient["rowsOf"]>

/**
 * A socket that follows a person's conversations and files, and comes back as a browser does
 * whenever it is cut off.
 */
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
   * Long before the one it has runs out. Where nobody answers, it is for the next time, or the next
   * connection.
   */
  async function renewToken() {
    if (client.connected) await client.ask("authenticate", { token: await realtimeToken(person) })
  }

  /** A whole read may be refused for a moment: a client waits before it asks again. */
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
        // What went with an old token is read again.
        for (const list of lists) if (list.state === "revoked") list.state = "reset"
        return await client.resume()
      } catch {
        // Nobody is there, or the one that was there is going: a client waits before it tries
        // again.
        await pause(100)
      }
    }
  }
}

/** Whether it has to be asked for again. */
function isWanting({ state, refusal }: Followed): boolean {
  return state === "reset" || (state === "waiting" && refusal?.retryAfter !== undefined)
}

function pause(milliseconds: number) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
