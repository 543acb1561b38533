/**
 * A client written from /api/realtime.json and docs/realtime-protocol.md: WebSocket and JSON,
 * without a library, and without code or types of this project. The conformance kit judges it.
 */
import { createInterface } from "node:readline"

const origin = process.env["TIDELINE_URL"] ?? "http://localhost:3000"
const key = process.env["TIDELINE_API_KEY"] ?? ""

type Row = Record<string, unknown>
type Change = [id: number, op: "put" | "merge" | "remove", key: string, row?: Row]
type Order = [field: string, direction: "asc" | "desc"][]

interface Failure {
  code: string
  message: string
  retryAfter?: number
}

interface Answer {
  value?: unknown
  error?: Failure
  refused?: { id: number; error: Failure }[]
  expiresAt?: number
}

interface ServerEvent {
  sequence: number
  lsn?: string
  lag?: number
  more?: boolean
  ids?: number[]
  reason?: string
  retryAfter?: number | null
  position?: { lsn: string }
  changes?: Change[]
  subscriptions?: {
    id: number
    kind: "rows" | "changes"
    rows?: Row[]
    changes?: Change[]
    order?: Order
    end?: string | null
    token: string
  }[]
}

/** The part of AsyncAPI that this client needs. */
interface Description {
  "x-queries": { name: string; page: { argument: string } | null }[]
  "x-limits": { name: string; value: number }[]
}

/** One subscription's rows, and what resuming them requires. */
class Page {
  rows = new Map<string, Row>()
  order: Order = []
  end: string | null = null
  token: string | undefined
  lsn: string | undefined
  isLive = false
  id = 0
  readonly query: string
  readonly args: Row

  constructor(query: string, args: Row) {
    this.query = query
    this.args = args
  }

  apply([, op, rowKey, row]: Change) {
    const old = this.rows.get(rowKey)
    if (op === "remove") this.rows.delete(rowKey)
    else if (op === "put") this.rows.set(rowKey, row ?? {})
    else if (old) this.rows.set(rowKey, { ...old, ...row })
  }

  forget() {
    this.token = undefined
    this.lsn = undefined
    this.isLive = false
  }

  have() {
    return this.token === undefined ? undefined : { token: this.token, lsn: this.lsn }
  }
}

/** A displayed list: adjacent pages, and rows that are leaving. */
interface List {
  query: string
  pages: Page[]
  wanted: number
  leftover: Row[]
}

class Client {
  status = "connecting"
  readonly lists = new Map<string, List>()
  readonly #description: Description
  readonly #byId = new Map<number, Page>()
  readonly #calls = new Map<number, (answer: Answer) => void>()
  readonly #mutations = new Map<string, { message: Row; done(answer: Answer): void }>()
  #socket: WebSocket | null = null
  #isUp = false
  #ended = false
  #attempt = 0
  #retryAfter = 0
  #sequence = 0
  #acknowledged = 0
  #bytes = 0
  #lastId = 0
  #lastCall = 0
  #lsn: string | undefined
  #parts: ServerEvent[] = []
  #timers = new Set<NodeJS.Timeout>()

  constructor(description: Description) {
    this.#description = description
    void this.#connect()
  }

  rows({ pages, leftover }: List): Row[] {
    const all = new Map<unknown, Row>()
    for (const row of leftover) all.set(row["_id"], row)
    for (const page of pages.toReversed()) for (const row of page.rows.values()) all.set(row["_id"], row)
    const order = pages[0]?.order ?? []
    return order.length === 0 ? [...all.values()] : [...all.values()].toSorted((a, b) => compare(order, a, b))
  }

  follow(name: string, query: string, args: Row) {
    const list = { query, pages: [new Page(query, args)], wanted: 1, leftover: [] }
    this.lists.set(name, list)
    this.#subscribe(list.pages)
  }

  leave(name: string) {
    const pages = this.lists.get(name)?.pages ?? []
    this.lists.delete(name)
    this.#unsubscribe(pages)
  }

  more(name: string) {
    const list = this.lists.get(name)
    if (!list) return
    list.wanted += 1
    this.#join(list)
  }

  query(query: string, args: Row) {
    return this.#call("query", { query, args })
  }

  mutate(mutation: string, args: Row): Promise<Answer> {
    const mutationId = crypto.randomUUID()
    return new Promise((done) => {
      this.#mutations.set(mutationId, { message: { mutation, args, mutationId }, done })
      if (this.#isUp) void this.#sendMutation(mutationId)
    })
  }

  close() {
    this.#ended = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#socket?.close()
  }

  async #sendMutation(mutationId: string) {
    const mutation = this.#mutations.get(mutationId)
    if (!mutation) return
    const answer = await this.#call("mutate", mutation.message)
    this.#mutations.delete(mutationId)
    mutation.done(answer)
  }

  /** Each page starts where the previous one ends. */
  #join(list: List) {
    const argument =
      this.#description["x-queries"].find(({ name }) => name === list.query)?.page?.argument ?? "after"
    for (const [at, page] of list.pages.entries()) {
      if (!page.isLive) return
      const after = list.pages.slice(at + 1)
      if (page.end === null || at + 1 >= list.wanted) {
        list.pages.length = at + 1
        list.leftover = []
        return this.#unsubscribe(after)
      }
      if (after[0]?.args[argument] === page.end) continue
      const next = new Page(list.query, { ...page.args, [argument]: page.end })
      list.leftover.push(...after.flatMap(({ rows }) => [...rows.values()]))
      list.pages.splice(at + 1, Infinity, next)
      this.#unsubscribe(after)
      this.#subscribe([next])
      return
    }
  }

  #subscribe(pages: Page[]) {
    if (!this.#isUp) return
    const most = this.#limit("subscriptionsPerMessage")
    for (let start = 0; start < pages.length; start += most) {
      const subscriptions = pages.slice(start, start + most).map((page) => {
        page.id = this.#lastId += 1
        this.#byId.set(page.id, page)
        return { id: page.id, query: page.query, args: page.args, have: page.have() }
      })
      void this.#call("subscribe", { subscriptions }).then(({ refused = [], error }) => {
        const whole = error ? subscriptions.map(({ id }) => ({ id, error })) : []
        for (const each of [...whole, ...refused]) this.#refused(each.id, each.error)
      })
    }
  }

  #refused(id: number, { code, retryAfter }: Failure) {
    const page = this.#byId.get(id)
    if (!page) return
    this.#byId.delete(id)
    if (retryAfter !== undefined) return this.#later(retryAfter, () => this.#subscribe([page]))
    if (code !== "not_found" && code !== "forbidden") return
    page.rows.clear()
    page.forget()
  }

  #unsubscribe(pages: Page[]) {
    const ids = pages.map(({ id }) => id).filter((id) => this.#byId.delete(id))
    if (ids.length > 0) this.#emit("unsubscribe", { ids })
  }

  async #connect() {
    let issued: { token: string; expiresAt: number }
    try {
      const response = await fetch(`${origin}/api/realtime/token`, {
        headers: { authorization: `Bearer ${key}` },
      })
      if (response.status === 401) return this.#signOut()
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      issued = (await response.json()) as typeof issued
    } catch {
      return this.#retry()
    }
    if (this.#ended) return
    const socket = new WebSocket(`${origin.replace(/^http/, "ws")}/realtime/?EIO=4&transport=websocket`)
    this.#socket = socket
    socket.addEventListener("message", ({ data }) => {
      if (this.#socket === socket) this.#frame(String(data), issued)
    })
    socket.addEventListener("error", () => {})
    socket.addEventListener("close", () => {
      if (this.#socket === socket) this.#lost()
    })
  }

  #frame(text: string, issued: { token: string; expiresAt: number }) {
    if (text.startsWith("0"))
      this.#socket?.send(`40${JSON.stringify({ version: 1, token: issued.token, client: "foreign" })}`)
    else if (text === "2") this.#socket?.send("3")
    else if (text.startsWith("40")) this.#accepted(issued.expiresAt)
    else if (text.startsWith("44")) this.#turnedAway(JSON.parse(text.slice(2)) as { data?: Failure })
    else if (text.startsWith("43")) {
      const [, id = "", body = "[]"] = /^43(\d+)(.*)$/s.exec(text) ?? []
      this.#calls.get(Number(id))?.((JSON.parse(body) as [Answer])[0])
      this.#calls.delete(Number(id))
    } else if (text.startsWith("42")) {
      const [name, event] = JSON.parse(text.slice(2)) as [string, ServerEvent]
      this.#event(name, event, text.length)
    }
  }

  #accepted(expiresAt: number) {
    this.#isUp = true
    this.#attempt = 0
    this.#retryAfter = 0
    this.#sequence = 0
    this.#acknowledged = 0
    this.#bytes = 0
    this.#renewBefore(expiresAt)
    this.#subscribe([...this.lists.values()].flatMap(({ pages }) => pages))
    for (const id of this.#mutations.keys()) void this.#sendMutation(id)
  }

  #turnedAway({ data }: { data?: Failure }) {
    this.#retryAfter = data?.retryAfter ?? 0
    if (data?.code === "version") {
      this.status = "outdated"
      this.#ended = true
    }
    this.#socket?.close()
  }

  #lost() {
    this.#isUp = false
    this.#socket = null
    this.#parts = []
    this.#calls.clear()
    for (const page of this.#byId.values()) {
      if (page.isLive) page.lsn = this.#lsn
      page.isLive = false
    }
    this.#byId.clear()
    if (!this.#ended) this.#retry()
  }

  #retry() {
    if (this.status === "live") this.status = "stale"
    const delay = Math.random() * Math.min(10_000, 250 * 2 ** this.#attempt)
    this.#attempt += 1
    this.#later(this.#retryAfter + delay, () => void this.#connect())
  }

  #signOut() {
    this.status = "signed-out"
    for (const page of [...this.lists.values()].flatMap(({ pages }) => pages)) {
      page.rows.clear()
      page.forget()
    }
  }

  #renewBefore(expiresAt: number) {
    const socket = this.#socket
    this.#later(Math.max(1000, (expiresAt - Date.now()) / 2), () => void this.#renew(socket))
  }

  async #renew(socket: WebSocket | null) {
    if (this.#socket !== socket) return
    const response = await fetch(`${origin}/api/realtime/token`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const { token } = (await response.json()) as { token: string }
    const { error, expiresAt } = await this.#call("authenticate", { token })
    if (error || expiresAt === undefined) socket?.close()
    else this.#renewBefore(expiresAt)
  }

  #event(name: string, event: ServerEvent, size: number) {
    if (event.sequence !== this.#sequence + 1) {
      const socket = this.#socket
      this.#lost()
      return socket?.close()
    }
    this.#sequence = event.sequence
    this.#bytes += size
    const { ids = [], changes = [] } = event
    if (name === "snapshot") this.#snapshot(event)
    else if (name === "commit") for (const change of changes) this.#byId.get(change[0])?.apply(change)
    else if (name === "reset") this.#subscribe(this.#forget(ids, false))
    else if (name === "revoked") this.#forget(ids, event.reason === "denied")
    else if (name === "goodbye") this.#retryAfter = event.retryAfter ?? 0
    if ((name === "commit" || name === "position") && event.lsn !== undefined)
      this.#moved(event.lsn, event.lag)
    if (this.#sequence - this.#acknowledged >= 16 || this.#bytes >= 65_536) this.#acknowledge()
    else this.#later(15_000, () => this.#acknowledge())
  }

  #acknowledge() {
    if (this.#acknowledged >= this.#sequence) return
    this.#acknowledged = this.#sequence
    this.#bytes = 0
    this.#emit("acknowledge", { sequence: this.#sequence })
  }

  #moved(lsn: string, lag = 0) {
    this.#lsn = lsn
    this.status = lag > 0 ? "stale" : "live"
  }

  #snapshot(event: ServerEvent) {
    this.#parts.push(event)
    if (event.more) return
    const begun = new Set<Page>()
    for (const part of this.#parts.flatMap(({ subscriptions = [] }) => subscriptions)) {
      const page = this.#byId.get(part.id)
      if (!page) continue
      if (part.kind === "rows") {
        if (!begun.has(page)) page.rows = new Map()
        for (const row of part.rows ?? []) page.rows.set(String(row["_id"]), row)
        page.order = part.order ?? []
        page.end = part.end ?? null
      } else for (const change of part.changes ?? []) page.apply(change)
      begun.add(page)
      page.token = part.token
      page.lsn = undefined
      page.isLive = true
    }
    this.#parts = []
    if (event.position) this.#moved(event.position.lsn)
    for (const list of this.lists.values()) this.#join(list)
  }

  /** Ends these subscriptions, and drops the parts kept for them. */
  #forget(ids: number[], isDenied: boolean): Page[] {
    for (const event of this.#parts)
      event.subscriptions = event.subscriptions?.filter(({ id }) => !ids.includes(id)) ?? []
    return ids.flatMap((id) => {
      const page = this.#byId.get(id)
      this.#byId.delete(id)
      if (!page) return []
      page.forget()
      if (isDenied) page.rows.clear()
      return [page]
    })
  }

  #call(name: string, message: object): Promise<Answer> {
    const id = (this.#lastCall += 1)
    return new Promise((resolve) => {
      this.#calls.set(id, resolve)
      if (this.#isUp) this.#socket?.send(`42${id}${JSON.stringify([name, message])}`)
    })
  }

  #emit(name: string, message: object) {
    if (this.#isUp) this.#socket?.send(`42${JSON.stringify([name, message])}`)
  }

  #later(milliseconds: number, work: () => void) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      if (!this.#ended) work()
    }, milliseconds)
    this.#timers.add(timer)
  }

  #limit(wanted: string): number {
    return this.#description["x-limits"].find(({ name }) => name === wanted)?.value ?? 1
  }
}

/** Numbers by value, texts by their bytes in UTF-8, null last in ascending order, then by `_id`. */
function compare(order: Order, one: Row, other: Row): number {
  for (const [field, direction] of [...order, ["_id", order.at(-1)?.[1] ?? "asc"] as const]) {
    const [a, b] = [one[field], other[field]]
    if (a === b) continue
    const sign = direction === "asc" ? 1 : -1
    if (a === null || a === undefined) return sign
    if (b === null || b === undefined) return -sign
    if (typeof a === "string" && typeof b === "string")
      return sign * Buffer.compare(Buffer.from(a), Buffer.from(b))
    return sign * Math.sign(Number(a) - Number(b))
  }
  return 0
}

interface Command {
  do: string
  name: string
  query: string
  mutation: string
  args: Row
}

const description = (await (await fetch(`${origin}/api/realtime.json`)).json()) as Description
let client: Client | null = null

function obey(command: Command) {
  if (command.do === "restart") {
    client?.close()
    client = null
    return
  }
  if (command.do === "state") {
    const lists = [...(client?.lists ?? [])].map(([name, list]) => [name, client?.rows(list)])
    return print({ state: { rows: Object.fromEntries(lists), status: client?.status ?? "connecting" } })
  }
  client ??= new Client(description)
  const { name, query, mutation, args } = command
  const done = ({ value, error }: Answer) => print({ done: name, value, error })
  if (command.do === "follow") client.follow(name, query, args)
  else if (command.do === "leave") client.leave(name)
  else if (command.do === "more") client.more(name)
  else if (command.do === "query") void client.query(query, args).then(done)
  else if (command.do === "mutate") void client.mutate(mutation, args).then(done)
}

function print(line: object) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

createInterface({ input: process.stdin })
  .on("line", (line) => obey(JSON.parse(line) as Command))
  .on("close", () => process.exit())
