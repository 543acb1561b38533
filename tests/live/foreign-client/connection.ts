/** An error as the protocol has it. */
export interface Failure {
  code: string
  message?: string
  /** Milliseconds. */
  retryAfter?: number | null
}

/** A subscription's part of a snapshot. */
export interface Part {
  id: number
  kind: "rows" | "changes"
  rows: Row[]
  changes: Change[]
  order: Order
  end: string | null
  token: string
}

export interface Row {
  _id: string
  [field: string]: unknown
}

export type Change = [id: number, op: "put" | "merge" | "remove", key: string, row?: Row]

export type Order = [field: string, direction: "asc" | "desc"][]

/** The fields of all events. Which of them an event has depends on its name. */
export interface Event {
  sequence: number
  lsn: string
  lag: number
  changes: Change[]
  position: { epoch: string; lsn: string }
  more?: true
  subscriptions: Part[]
  ids: number[]
  reason: string
  retryAfter?: number | null
}

/** The fields of all responses. */
export interface Answer {
  value?: unknown
  error?: Failure
  refused?: { id: number; error: Failure }[]
  expiresAt?: number
}

interface Handlers {
  accepted(): void
  closed(refusal?: Failure): void
  event(name: string, event: Event, bytes: number): void
}

export const SERVER = process.env["TIDELINE_URL"] ?? "http://localhost:3000"
export const MAX_FRAME = 65_536

/** Milliseconds. */
export const HANDSHAKE_TIMEOUT = 10_000
const ANSWER_TIMEOUT = 15_000

/** One socket.io connection, spoken over a plain WebSocket. */
export class Connection {
  closed = false
  readonly #socket: WebSocket
  readonly #auth: object
  readonly #handlers: Handlers
  readonly #calls = new Map<number, { answer(value: Answer): void; lose(error: Error): void }>()
  #lastCall = 0
  #silence = 45_000
  #watchdog: NodeJS.Timeout | undefined

  constructor(auth: object, handlers: Handlers) {
    this.#auth = auth
    this.#handlers = handlers
    this.#socket = new WebSocket(`${SERVER.replace(/^http/, "ws")}/realtime/?EIO=4&transport=websocket`)
    this.#socket.addEventListener("message", ({ data }) => this.#receive(String(data)))
    this.#socket.addEventListener("close", () => this.close())
    this.#socket.addEventListener("error", () => this.close())
    this.#closeAfter(HANDSHAKE_TIMEOUT)
  }

  emit(name: string, message: object) {
    this.#socket.send(`42${JSON.stringify([name, message])}`)
  }

  call(name: string, message: object): Promise<Answer> {
    const id = ++this.#lastCall
    const frame = `42${id}${JSON.stringify([name, message])}`
    if (Buffer.byteLength(frame) > MAX_FRAME)
      return Promise.resolve({ error: { code: "invalid", message: "The message is too long." } })
    return new Promise((resolve, lose) => {
      if (this.closed) return lose(new Error("The connection is closed."))
      const timer = setTimeout(() => this.close(), ANSWER_TIMEOUT)
      this.#calls.set(id, {
        answer(value) {
          clearTimeout(timer)
          resolve(value)
        },
        lose(error) {
          clearTimeout(timer)
          lose(error)
        },
      })
      this.#socket.send(frame)
    })
  }

  close(refusal?: Failure) {
    if (this.closed) return
    this.closed = true
    clearTimeout(this.#watchdog)
    this.#socket.close()
    this.#handlers.closed(refusal)
    for (const { lose } of this.#calls.values()) lose(new Error("The connection was lost."))
  }

  #receive(frame: string) {
    if (this.closed) return
    const [, type, id, body = ""] = /^(4\d|\d)(\d*)(.*)$/s.exec(frame) ?? []
    const data: unknown = /^[{[]/.test(body) ? JSON.parse(body) : undefined
    if (type === "0") this.#open(data as { pingInterval: number; pingTimeout: number })
    else if (type === "2") this.#answerPing()
    else if (type === "40") this.#accept()
    else if (type === "42") this.#handlers.event(...(data as [string, Event]), Buffer.byteLength(frame))
    else if (type === "43") this.#answer(Number(id), (data as [Answer])[0])
    else if (type === "44") this.close((data as { data?: Failure } | undefined)?.data)
    else if (type === "41" || type === "1") this.close()
  }

  #open({ pingInterval, pingTimeout }: { pingInterval: number; pingTimeout: number }) {
    this.#silence = pingInterval + pingTimeout
    this.#socket.send(`40${JSON.stringify(this.#auth)}`)
  }

  #answerPing() {
    this.#socket.send("3")
    this.#closeAfter(this.#silence)
  }

  #accept() {
    this.#closeAfter(this.#silence)
    this.#handlers.accepted()
  }

  #answer(id: number, value: Answer) {
    this.#calls.get(id)?.answer(value)
    this.#calls.delete(id)
  }

  #closeAfter(ms: number) {
    clearTimeout(this.#watchdog)
    this.#watchdog = setTimeout(() => this.close(), ms)
  }
}
