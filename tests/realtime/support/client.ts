import type {
  Change,
  CommitEvent,
  Committed,
  Handshake,
  LiveRow,
  MembersEvent,
  MessageEvent,
  PositionEvent,
  Refusal,
  ResetEvent,
  RevokedEvent,
  RowOrder,
  SnapshotEvent,
  SubscribeAnswer,
} from "../../../live/protocol/contract.ts"

/** One subscription of the reference client. */
export interface Followed {
  id: number
  query: string
  args: unknown
  rows: Map<string, LiveRow & Record<string, unknown>>
  order: RowOrder
  end: string | null
  token: string | null
  /**
   * `waiting` until the snapshot arrives, `reset` when the server no longer has the subscription,
   * `revoked` when access has ended.
   */
  state: "waiting" | "live" | "reset" | "revoked"
  refusal: Refusal | null
}

export type ServerEvent =
  | ({ event: "snapshot" } & SnapshotEvent)
  | ({ event: "commit" } & CommitEvent)
  | ({ event: "position" } & PositionEvent)
  | ({ event: "reset" } & ResetEvent)
  | ({ event: "revoked" } & RevokedEvent)
  | ({ event: "message" } & MessageEvent)
  | ({ event: "members" } & MembersEvent)
  | { event: "goodbye"; sequence: number; reason: string; retryAfter: number | null }

/** Stands in for a reply that was lost with its connection. */
const LOST = {
  accepted: [],
  refused: [],
  error: { code: "unavailable", message: "The connection was closed.", retryAfter: 0 },
}

/**
 * A client written from docs/realtime-protocol.md on a bare WebSocket. It checks the protocol's
 * guarantees at each event, and records breaches in `violations`.
 */
export class ReferenceClient {
  readonly followed = new Map<number, Followed>()
  readonly events: ServerEvent[] = []
  readonly violations: string[] = []
  readonly resetReasons: ResetEvent["reason"][] = []
  readonly seen = { rows: 0, changes: 0, commits: 0, resets: 0, changedRows: 0 }
  position: { epoch: string; lsn: string } | null = null
  lag = 0
  /** A gap or a duplicate was seen, and the client closed the connection. */
  broken = false
  goodbye: { reason: string; retryAfter: number | null } | null = null
  /** If false, the client reads and applies events but never acknowledges them. */
  acknowledging = true
  keepEvents = true
  /** Sits between the network and the client: the client receives the events that it returns. */
  tamper: (event: ServerEvent) => ServerEvent[] = (event) => [event]
  /** For the next connection. */
  token: string
  #url: string
  #socket: WebSocket | null = null
  /** Nothing may be sent before the handshake is. */
  #isAccepted = false
  #sequence = 0
  #acknowledged = 0
  #held: SnapshotEvent[] = []
  #answers = new Map<number, (value: never) => void>()
  #nextAnswer = 0
  #nextId = 1
  #watchers = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined

  constructor(url: string, token: string) {
    this.#url = url
    this.token = token
  }

  get connected(): boolean {
    return this.#isAccepted && this.#socket?.readyState === WebSocket.OPEN
  }

  /** Resolves when the handshake is accepted; rejects with the refusal. */
  connect(auth: { [Field in keyof Handshake]?: unknown } = {}): Promise<void> {
    const socket = new WebSocket(`${this.#url}/realtime/?EIO=4&transport=websocket`)
    this.#socket = socket
    this.#isAccepted = false
    // The previous connection may not have ended yet, and will not answer.
    this.#loseAnswers()
    this.#sequence = 0
    this.#acknowledged = 0
    this.#held = []
    this.broken = false
    this.goodbye = null
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.#acknowledge(), 100)
    return new Promise((resolve, reject) => {
      socket.addEventListener("close", () => {
        if (this.#socket !== socket) return
        clearInterval(this.#timer)
        reject(new Error("The connection was closed."))
        this.#loseAnswers()
        this.#wake()
      })
      socket.addEventListener("message", ({ data }) => {
        if (this.#socket !== socket) return
        const text = String(data)
        if (text.startsWith("0"))
          socket.send(`40${JSON.stringify({ version: 1, token: this.token, ...auth })}`)
        else if (text === "2") socket.send("3")
        else if (text.startsWith("40")) {
          this.#isAccepted = true
          resolve()
        } else if (text.startsWith("44"))
          reject(Object.assign(new Error("refused"), JSON.parse(text.slice(2)).data))
        else if (text.startsWith("43")) this.#receiveReply(text.slice(2))
        else if (text.startsWith("42")) this.#receive(JSON.parse(text.slice(2)))
        this.#wake()
      })
    })
  }

  close(): void {
    clearInterval(this.#timer)
    this.#socket?.close()
  }

  /** Subscribes and resolves with the server's verdict. */
  async follow(query: string, args: unknown, have?: { token: string; lsn?: string }): Promise<Followed> {
    const followed = this.#add(query, args)
    await this.#subscribe([{ followed, have }])
    return followed
  }

  /** The same for several, in one message. */
  async followAll(wanted: readonly { query: string; args: unknown }[]): Promise<void> {
    await this.#subscribe(wanted.map(({ query, args }) => ({ followed: this.#add(query, args) })))
  }

  #add(query: string, args: unknown): Followed {
    const followed: Followed = {
      id: this.#nextId++,
      query,
      args,
      rows: new Map(),
      order: [],
      end: null,
      token: null,
      state: "waiting",
      refusal: null,
    }
    this.followed.set(followed.id, followed)
    return followed
  }

  /** Adds rows that arrived another way, such as with a rendered page. */
  async adopt(
    query: string,
    args: unknown,
    rows: readonly LiveRow[],
    have: { token: string },
  ): Promise<Followed> {
    const id = this.#nextId++
    const followed: Followed = {
      id,
      query,
      args,
      rows: new Map(rows.map((row) => [row._id, { ...row }])),
      order: [],
      end: null,
      token: have.token,
      state: "waiting",
      refusal: null,
    }
    this.followed.set(id, followed)
    await this.#subscribe([{ followed, have }])
    return followed
  }

  /** Reconnects and resumes every subscription from its last position. */
  async resume(url = this.#url): Promise<void> {
    this.#url = url
    const lsn = this.position?.lsn
    const everything = [...this.followed.values()].filter(({ state }) => state !== "revoked")
    const haves = everything.map((followed) => {
      const { token, state } = followed
      if (token === null || state === "reset") return { followed }
      return { followed, have: { token, ...(state === "live" && lsn ? { lsn } : {}) } }
    })
    await this.connect()
    for (const { followed } of haves) followed.state = "waiting"
    await this.#subscribe(haves)
  }

  /** Subscribes again to what the server has reset or temporarily refused. */
  async renew(): Promise<void> {
    const { unsettled } = this
    for (const followed of unsettled) followed.state = "waiting"
    await this.#subscribe(unsettled.map((followed) => ({ followed })))
  }

  /**
   * What the server has reset or temporarily refused. Not what it has revoked, even where the answer
   * to its subscription was lost.
   */
  get unsettled(): Followed[] {
    return [...this.followed.values()].filter(
      ({ state, refusal }) => state === "reset" || (state === "waiting" && refusal?.retryAfter !== undefined),
    )
  }

  unfollow(followed: Followed): void {
    this.followed.delete(followed.id)
    this.emit("unsubscribe", { ids: [followed.id] })
  }

  /** What is sent without a connection is lost, as it is when the connection ends on the way. */
  emit(event: string, message: unknown): void {
    if (this.connected) this.#socket?.send(`42${JSON.stringify([event, message])}`)
  }

  ask<Answer>(event: string, message: unknown): Promise<Answer> {
    const id = this.#nextAnswer++
    if (!this.connected) return Promise.resolve(LOST as Answer)
    return new Promise((resolve) => {
      this.#answers.set(id, resolve)
      this.#socket?.send(`42${id}${JSON.stringify([event, message])}`)
    })
  }

  mutate(mutation: string, args: unknown, mutationId: string): Promise<Committed & { error?: Refusal }> {
    return this.ask("mutate", { mutation, args, mutationId })
  }

  /** Resolves as soon as the condition holds; it is checked at every event. */
  async until(condition: () => boolean, what: string, ms = 60_000): Promise<void> {
    if (condition()) return
    await new Promise<void>((resolve, reject) => {
      const watch = () => {
        if (!condition()) return
        this.#watchers.delete(watch)
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#watchers.delete(watch)
        const { connected, position, goodbye } = this
        const last = this.events.slice(-5).map((event) => JSON.stringify(event).slice(0, 500))
        const seen = JSON.stringify({ connected, position, goodbye, seen: this.seen })
        reject(new Error(`Waited ${ms} ms for ${what}. ${seen} The last events:\n${last.join("\n")}`))
      }, ms)
      this.#watchers.add(watch)
    })
  }

  rowsOf(followed: Followed): (LiveRow & Record<string, unknown>)[] {
    return [...followed.rows.values()].toSorted((a, b) => (a._id < b._id ? -1 : 1))
  }

  async #subscribe(
    wanted: { followed: Followed; have?: { token: string; lsn?: string } | undefined }[],
  ): Promise<void> {
    if (wanted.length === 0) return
    for (const { followed } of wanted) followed.refusal = null
    const subscriptions = wanted.map(({ followed: { id, query, args }, have }) => ({ id, query, args, have }))
    const answer = await this.ask<SubscribeAnswer>("subscribe", { subscriptions })
    if (answer.error) for (const { followed } of wanted) followed.refusal = answer.error
    for (const { id, error } of answer.refused) {
      const followed = this.followed.get(id)
      if (!followed) continue
      followed.refusal = error
      // Access ended while the connection was lost.
      if (error.code === "not_found") followed.rows.clear()
    }
    for (const id of answer.accepted) {
      await this.until(
        () => this.followed.get(id)?.state !== "waiting" || this.broken || !this.connected,
        `the snapshot of subscription ${id}`,
      )
    }
  }

  #loseAnswers(): void {
    for (const answer of this.#answers.values()) answer(LOST as never)
    this.#answers.clear()
  }

  #acknowledge(): void {
    if (!this.acknowledging || this.#acknowledged === this.#sequence || !this.connected) return
    this.#acknowledged = this.#sequence
    this.emit("acknowledge", { sequence: this.#sequence })
  }

  #receiveReply(text: string): void {
    const split = text.indexOf("[")
    const id = Number(text.slice(0, split))
    const [value] = JSON.parse(text.slice(split))
    this.#answers.get(id)?.(value as never)
    this.#answers.delete(id)
  }

  #receive([event, body]: [ServerEvent["event"], ServerEvent]): void {
    for (const message of this.tamper({ ...body, event } as ServerEvent)) this.#apply(message)
  }

  #apply(message: ServerEvent): void {
    if (this.broken) return
    if (this.keepEvents) this.events.push(message)
    if (message.sequence !== this.#sequence + 1) {
      // An event after a gap or a duplicate cannot be applied: reconnect.
      this.broken = true
      this.close()
      return
    }
    this.#sequence = message.sequence
    if (message.event === "snapshot") this.#applySnapshot(message)
    else if (message.event === "commit") {
      this.seen.commits += 1
      this.#advance(message.lsn)
      for (const change of message.changes) this.#applyChange(change)
    } else if (message.event === "position") {
      this.lag = message.lag
      this.#advance(message.lsn)
    } else if (message.event === "reset" || message.event === "revoked") {
      this.#held = this.#held.map((event) => ({
        ...event,
        subscriptions: event.subscriptions.filter(({ id }) => !message.ids.includes(id)),
      }))
      for (const id of message.ids) {
        const followed = this.followed.get(id)
        if (!followed) continue
        followed.state = message.event
        if (message.event === "reset") {
          this.seen.resets += 1
          this.resetReasons.push(message.reason)
        } else followed.rows.clear()
      }
    } else if (message.event === "goodbye") this.goodbye = message
    if (this.#sequence - this.#acknowledged >= 16) this.#acknowledge()
  }

  #advance(lsn: string): void {
    if (!this.position) return
    if (lsn < this.position.lsn) this.violations.push(`position ${lsn} followed ${this.position.lsn}`)
    this.position.lsn = lsn
  }

  #applySnapshot(event: SnapshotEvent): void {
    this.#held.push(event)
    if (event.more) return
    const parts = this.#held.flatMap(({ subscriptions }) => subscriptions)
    this.#held = []
    if (this.position?.epoch === event.position.epoch) this.#advance(event.position.lsn)
    this.position = { ...event.position }
    const begun = new Set<number>()
    for (const part of parts) {
      const followed = this.followed.get(part.id)
      if (!followed) continue
      followed.token = part.token
      followed.state = "live"
      if (part.kind === "changes") {
        this.seen.changes += 1
        this.seen.changedRows += part.changes.length
        for (const change of part.changes) this.#applyChange(change)
        continue
      }
      if (!begun.has(part.id)) {
        this.seen.rows += 1
        followed.rows.clear()
      }
      begun.add(part.id)
      followed.order = part.order
      followed.end = part.end
      for (const row of part.rows) followed.rows.set(row._id, { ...row })
    }
  }

  #applyChange(change: Change): void {
    const followed = this.followed.get(change[0])
    if (followed?.state !== "live") return
    const [, op, key] = change
    if (op === "remove") followed.rows.delete(key)
    else if (op === "put") followed.rows.set(key, { _id: key, ...change[3] })
    else {
      const row = followed.rows.get(key)
      if (row) Object.assign(row, change[3])
      else this.violations.push(`a merge named the row ${key}, which is not there`)
    }
  }

  #wake(): void {
    for (const watch of this.#watchers) watch()
  }
}
