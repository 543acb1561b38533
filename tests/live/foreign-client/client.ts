import { randomUUID } from "node:crypto"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import {
  Connection,
  HANDSHAKE_TIMEOUT,
  MAX_FRAME,
  SERVER,
  type Answer,
  type Change,
  type Event,
  type Failure,
  type Part,
} from "./connection.ts"
import { applyChange, applyPart, forget, newPage, shownRows, type Follow, type Page } from "./pages.ts"

// A realtime client, written from docs/realtime-protocol.md and /api/realtime.json alone, by somebody
// who had not seen the server or another client: without a library, and without code or types of this
// project. The conformance kit judges it.

interface Item {
  id: number
  query: string
  args: object
  have: { token: string; lsn: string | undefined } | undefined
}

interface Waiting {
  resolve(connection: Connection): void
  reject(error: Error): void
}

const RETRIED = new Set(["unavailable", "rate_limited"])

const jittered = (ms: number) => ms * (1 + Math.random() / 4)
const retryDelay = (error: Failure) => jittered(error.retryAfter ?? 1000)

class Refused extends Error {
  failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

class Client {
  follows = new Map<string, Follow>()
  pages = new Map<number, Page>()
  lastId = 0
  /** Set once its handshake is accepted. */
  connection: Connection | undefined
  attempt: Connection | undefined
  waiting: Waiting[] = []
  problem: "signed-out" | "outdated" | undefined
  stopped = false
  attempts = 0
  lostAt = Date.now()
  userId: string | undefined
  clockSkew = 0
  renewal: NodeJS.Timeout | undefined
  held: Part[] = []
  position: { epoch: string; lsn: string } | undefined
  lag = 0
  sequence = 0
  unacknowledged = { events: 0, bytes: 0 }
  acknowledgement: NodeJS.Timeout | undefined

  constructor() {
    void this.connect()
  }

  follow(name: string, query: string, args: object) {
    this.leave(name)
    const follow: Follow = { query, args, wanted: 1, pages: [] }
    this.follows.set(name, follow)
    this.addPage(follow)
  }

  more(name: string) {
    const follow = this.follows.get(name)
    const last = follow?.pages.at(-1)
    if (!follow || !last || last.end === null) return
    follow.wanted++
    this.joinNext(last)
  }

  leave(name: string) {
    const follow = this.follows.get(name)
    this.follows.delete(name)
    if (follow) this.unsubscribe(follow.pages)
  }

  /** Sends a call until it has an answer, over as many connections as that takes. */
  async call(name: string, message: object): Promise<Answer> {
    while (true) {
      const connection = await this.connected()
      const answer = await connection.call(name, message).catch(() => null)
      if (answer?.error && RETRIED.has(answer.error.code)) await pause(retryDelay(answer.error))
      else if (answer) return answer
    }
  }

  state() {
    const rows = Object.fromEntries([...this.follows].map(([name, follow]) => [name, shownRows(follow)]))
    if (this.connection) return { rows, status: this.lag > 0 ? "stale" : "live" }
    return { rows, status: this.problem ?? "connecting" }
  }

  stop() {
    this.stopped = true
    this.attempt?.close()
  }

  // Connecting

  connected(): Promise<Connection> {
    if (this.connection) return Promise.resolve(this.connection)
    if (this.problem === "outdated") return Promise.reject(new Refused({ code: "version" }))
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }))
  }

  async connect() {
    if (this.stopped) return
    try {
      const issued = await fetchToken()
      if (!this.stopped) this.shakeHands(issued)
    } catch (error) {
      this.problem = error instanceof Refused ? "signed-out" : this.problem
      setTimeout(() => void this.connect(), this.backoff())
    }
  }

  shakeHands({ token, expiresAt, userId, clockSkew }: Awaited<ReturnType<typeof fetchToken>>) {
    if (this.userId && this.userId !== userId) this.allPages().forEach(forget)
    this.userId = userId
    this.clockSkew = clockSkew
    const connection: Connection = new Connection(
      { version: 1, token, client: "A stranger's client" },
      {
        accepted: () => this.accepted(connection, expiresAt),
        event: (name, event, bytes) => this.receive(name, event, bytes),
        closed: (refusal) => this.lost(refusal),
      },
    )
    this.attempt = connection
  }

  accepted(connection: Connection, expiresAt: number) {
    this.connection = connection
    this.problem = undefined
    this.sequence = 0
    this.lag = 0
    this.unacknowledged = { events: 0, bytes: 0 }
    this.renewBefore(expiresAt)
    this.subscribe(this.allPages().filter((page) => page.state === "due"))
    for (const { resolve } of this.waiting.splice(0)) resolve(connection)
  }

  lost(refusal?: Failure) {
    clearTimeout(this.renewal)
    clearTimeout(this.acknowledgement)
    if (this.connection && this.attempts === 0) this.lostAt = Date.now()
    this.connection = undefined
    this.held = []
    this.pages.clear()
    for (const page of this.allPages()) this.suspend(page)
    if (refusal?.code === "version") return this.giveUp()
    if (refusal?.code === "unauthorized") this.problem = "signed-out"
    setTimeout(() => void this.connect(), refusal?.retryAfter ? jittered(refusal.retryAfter) : this.backoff())
  }

  suspend(page: Page) {
    page.id = undefined
    if (page.state !== "live") return
    page.state = "due"
    page.lsn = this.position?.lsn
  }

  giveUp() {
    this.problem = "outdated"
    for (const { reject } of this.waiting.splice(0)) reject(new Refused({ code: "version" }))
  }

  backoff() {
    const ceiling = Date.now() - this.lostAt < 30_000 ? 2000 : 10_000
    return Math.random() * Math.min(ceiling, 250 * 2 ** this.attempts++)
  }

  renewBefore(expiresAt: number) {
    const life = expiresAt - (Date.now() + this.clockSkew)
    this.renewIn(Math.max(500, life / 2))
  }

  renewIn(ms: number) {
    const { connection } = this
    if (connection) this.renewal = setTimeout(() => void this.renew(connection), ms)
  }

  async renew(connection: Connection) {
    try {
      const { token, userId } = await fetchToken()
      if (userId !== this.userId) return connection.close()
      const { expiresAt, error } = await connection.call("authenticate", { token })
      if (error && !RETRIED.has(error.code)) return connection.close() // and reconnect with another token
      if (error) throw new Refused(error)
      if (!connection.closed && expiresAt !== undefined) this.renewBefore(expiresAt)
    } catch (error) {
      if (!connection.closed) this.renewIn(error instanceof Refused ? retryDelay(error.failure) : 1000)
    }
  }

  // Subscriptions

  allPages() {
    return [...this.follows.values()].flatMap(({ pages }) => pages)
  }

  addPage(follow: Follow, after?: string) {
    const page = newPage(follow, after)
    follow.pages.push(page)
    this.subscribe([page])
  }

  subscribe(pages: Page[]) {
    if (!this.connection) return // accepted() subscribes to whatever is due
    for (const items of messages(pages.map((page) => this.register(page))))
      void this.send(this.connection, items)
  }

  register(page: Page): Item {
    const { query, args } = page.follow
    page.id = this.lastId++
    this.pages.set(page.id, page)
    const have = page.token ? { token: page.token, lsn: page.lsn } : undefined
    return {
      id: page.id,
      query,
      args: page.after === undefined ? args : { ...args, after: page.after },
      have,
    }
  }

  async send(connection: Connection, items: Item[]) {
    const answer = await connection.call("subscribe", { subscriptions: items }).catch(() => null)
    if (!answer) return
    const { error } = answer
    const refused = error ? items.map(({ id }) => ({ id, error })) : (answer.refused ?? [])
    const again = refused.filter((each) => this.refuse(each.id, each.error))
    if (again.length === 0) return
    await pause(Math.max(...again.map((each) => retryDelay(each.error))))
    if (this.connection === connection)
      this.subscribe(this.allPages().filter(({ id, state }) => id === undefined && state === "due"))
  }

  /** Whether to subscribe again later. */
  refuse(id: number, error: Failure) {
    const page = this.detach(id)
    if (!page) return false
    if (RETRIED.has(error.code)) return true
    forget(page)
    page.state = "ended"
    return false
  }

  detach(id: number) {
    const page = this.pages.get(id)
    this.pages.delete(id)
    if (page) page.id = undefined
    return page
  }

  unsubscribe(pages: Page[]) {
    const ids = pages.flatMap(({ id }) => id ?? [])
    for (const id of ids) this.detach(id)
    if (ids.length > 0) this.connection?.emit("unsubscribe", { ids })
  }

  /** Makes the page that follows begin where this one ends. */
  joinNext(page: Page) {
    const { follow } = page
    const following = follow.pages.slice(follow.pages.indexOf(page) + 1)
    const [next] = following
    if (page.state !== "live") return
    if (page.end === null) this.endAt(page, following)
    else if (next && (next.after !== page.end || next.state === "unjoined")) this.rejoin(following, page.end)
    else if (!next && follow.pages.length < follow.wanted) this.addPage(follow, page.end ?? undefined)
  }

  endAt({ follow }: Page, following: Page[]) {
    this.unsubscribe(following)
    follow.pages.splice(follow.pages.length - following.length)
    follow.wanted = follow.pages.length
  }

  rejoin(following: Page[], end: string | undefined) {
    this.unsubscribe(following)
    for (const page of following) Object.assign(page, { state: "unjoined", token: undefined, lsn: undefined })
    const [next] = following
    if (!next) return
    Object.assign(next, { state: "due", after: end })
    this.subscribe([next])
  }

  // Events

  receive(name: string, event: Event, bytes: number) {
    if (event.sequence !== this.sequence + 1) return this.connection?.close()
    this.sequence = event.sequence
    this.attempts = 0
    if (name === "snapshot") this.snapshot(event)
    else if (name === "commit") this.commit(event.changes)
    else if (name === "position") this.lag = event.lag
    else if (name === "reset") this.reset(event.ids)
    else if (name === "revoked") this.revoke(event.ids, event.reason)
    if (name === "commit" || name === "position") this.advance(event.lsn)
    if (name === "goodbye")
      this.connection?.close({ code: "unavailable", retryAfter: event.retryAfter ?? null })
    else this.acknowledgeSoon(bytes)
  }

  snapshot(event: Event) {
    this.held.push(...event.subscriptions)
    if (event.more) return
    const begun = new Set<Page>()
    for (const part of this.held.splice(0)) {
      const page = this.pages.get(part.id)
      if (!page) continue
      applyPart(page, part, begun.has(page))
      begun.add(page)
    }
    if (this.position?.epoch !== event.position.epoch) this.position = event.position
    this.advance(event.position.lsn)
    for (const page of begun) page.state = "live"
    for (const page of begun) this.joinNext(page)
  }

  commit(changes: Change[]) {
    for (const change of changes) {
      const page = this.pages.get(change[0])
      if (page?.state === "live") applyChange(page.rows, change)
    }
  }

  advance(lsn: string) {
    if (this.position && lsn > this.position.lsn) this.position = { ...this.position, lsn }
  }

  reset(ids: number[]) {
    const pages = this.end(ids)
    for (const page of pages) Object.assign(page, { state: "due", token: undefined, lsn: undefined })
    this.subscribe(pages)
  }

  revoke(ids: number[], reason: string) {
    for (const page of this.end(ids)) {
      forget(page)
      // Those of an ended session or token start again with the next connection.
      if (reason === "denied") page.state = "ended"
    }
  }

  end(ids: number[]) {
    this.held = this.held.filter(({ id }) => !ids.includes(id))
    return ids.flatMap((id) => this.detach(id) ?? [])
  }

  /**
   * Events kept because of `more` count as well: the server sends no further parts to a client that
   * does not acknowledge.
   */
  acknowledgeSoon(bytes: number) {
    const { unacknowledged } = this
    unacknowledged.events++
    unacknowledged.bytes += bytes
    if (unacknowledged.events >= 16 || unacknowledged.bytes >= 65_536) this.acknowledge()
    else if (unacknowledged.events === 1) this.acknowledgement = setTimeout(() => this.acknowledge(), 15_000)
  }

  acknowledge() {
    clearTimeout(this.acknowledgement)
    this.unacknowledged = { events: 0, bytes: 0 }
    this.connection?.emit("acknowledge", { sequence: this.sequence })
  }
}

async function fetchToken() {
  const response = await fetch(`${SERVER}/api/realtime/token`, {
    headers: { authorization: `Bearer ${process.env["TIDELINE_API_KEY"]}` },
    signal: AbortSignal.timeout(HANDSHAKE_TIMEOUT),
  })
  if (response.status === 401 || response.status === 403) throw new Refused({ code: "unauthorized" })
  if (!response.ok) throw new Error(`No token: ${response.status}`)
  const serverTime = Date.parse(response.headers.get("date") ?? "") || Date.now()
  const issued = (await response.json()) as { token: string; expiresAt: number; userId: string }
  return { ...issued, clockSkew: serverTime - Date.now() }
}

/** Splits subscriptions into messages that the server accepts. */
function messages(items: Item[]): Item[][] {
  const all: Item[][] = []
  let bytes = 0
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1
    const last = all.at(-1)
    if (last && bytes + size <= MAX_FRAME - 100 && last.length < 100) last.push(item)
    else {
      all.push([item])
      bytes = 0
    }
    bytes += size
  }
  return all
}

const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

async function report(name: string, answer: Promise<Answer>) {
  const { value, error } = await answer.catch(({ failure }: Refused): Answer => ({ error: failure }))
  print(error ? { done: name, error: { code: error.code } } : { done: name, value })
}

let client: Client | undefined

interface Command {
  do: string
  name: string
  query: string
  mutation: string
  args: object
}

function obey({ do: verb, name, query, mutation, args }: Command) {
  if (verb === "restart") {
    client?.stop()
    client = undefined
    return
  }
  client ??= new Client()
  if (verb === "follow") client.follow(name, query, args)
  else if (verb === "more") client.more(name)
  else if (verb === "leave") client.leave(name)
  else if (verb === "query") void report(name, client.call("query", { query, args }))
  else if (verb === "mutate")
    void report(name, client.call("mutate", { mutation, args, mutationId: randomUUID() }))
  else if (verb === "state") print({ state: client.state() })
}

createInterface({ input: process.stdin })
  .on("line", (line) => obey(JSON.parse(line) as Command))
  .on("close", () => process.exit())
