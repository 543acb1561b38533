import { connect, type Socket } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { answerCommands } from "../program.ts"
import { now, percentile } from "../statistics.ts"

// Sends requests to one server over many connections. Each connection sends the next request as
// soon as it has received its response.

export interface Load {
  port: number
  path: string
  /** Header lines without Host. `{address}` is replaced with one of 20,000 IP addresses. */
  headers: readonly string[]
  connections: number
  /** Seconds of requests before the measurement, to warm up the JIT and the connections. */
  warmUp: number
  seconds: number
  status: number
}

const ADDRESSES = 20_000

const commands = {
  /**
   * Returns latencies in ms. They exclude the first response of each connection, which waits until
   * all other connections are accepted.
   */
  async run(load: Load) {
    const crowd = new Crowd(load)
    await crowd.open()
    await pause(load.warmUp * 1000)
    crowd.begin()
    const since = now()
    await pause(load.seconds * 1000)
    const { answered, latencies, failed } = crowd.end()
    const seconds = (now() - since) / 1000
    return {
      perSecond: answered / seconds,
      answered,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      failed,
    }
  },
}
export type ClientCommands = typeof commands

class Crowd {
  readonly #load: Load
  readonly #sockets: Socket[] = []
  #latencies: number[] = []
  #answered = 0
  #failed = 0
  #asked = 0
  #isOpen = false
  #isOver = false

  constructor(load: Load) {
    this.#load = load
  }

  /**
   * Each connection sends one request, and the next once all are open. Node accepts one connection
   * per turn of its event loop, so busy connections would delay the rest.
   */
  async open(): Promise<void> {
    const again = await Promise.all(Array.from({ length: this.#load.connections }, () => this.#connect()))
    this.#isOpen = true
    for (const ask of again) ask()
  }

  begin(): void {
    this.#latencies = []
    this.#answered = 0
  }

  end() {
    this.#isOver = true
    for (const socket of this.#sockets) socket.destroy()
    return { answered: this.#answered, latencies: this.#latencies, failed: this.#failed }
  }

  /**
   * Resolves on the first response, or when the connection fails, with a function that sends the
   * next request.
   */
  #connect(): Promise<() => void> {
    return new Promise((resolve) => {
      const { port } = this.#load
      const socket = connect(port, "127.0.0.1")
      socket.setNoDelay(true)
      this.#sockets.push(socket)
      const reader = new ResponseReader()
      let sent = 0
      const ask = () => {
        sent = now()
        socket.write(this.#request())
      }
      socket.on("connect", ask)
      socket.on("data", (bytes) => {
        const status = reader.read(bytes)
        if (status === null || this.#isOver) return
        if (status === this.#load.status) this.#count(now() - sent)
        else this.#failed++
        if (this.#isOpen) ask()
        else resolve(ask)
      })
      socket.on("error", () => {})
      socket.on("close", () => {
        resolve(() => {})
        if (!this.#isOver) this.#failed++
      })
    })
  }

  #count(latency: number) {
    this.#answered++
    this.#latencies.push(latency)
  }

  #request(): string {
    const { path, headers, port } = this.#load
    const number = this.#asked++ % ADDRESSES
    const address = `10.1.${number >> 8}.${number & 255}`
    const lines = headers.map((line) => `${line.replace("{address}", address)}\r\n`).join("")
    return `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n${lines}\r\n`
  }
}

/**
 * Parses one response at a time, because a connection sends no request before its response is
 * complete.
 */
class ResponseReader {
  #head = ""
  #status = 0
  /**
   * The remaining bytes of the body: null while the head is being read, infinite for chunked
   * responses.
   */
  #rest: number | null = null
  #tail = ""

  /** Returns the status of the response that these bytes complete, or null. */
  read(bytes: Buffer): number | null {
    let body = bytes
    if (this.#rest === null) {
      this.#head += bytes.toString("latin1")
      const end = this.#head.indexOf("\r\n\r\n")
      if (end < 0) return null
      body = bytes.subarray(bytes.length - (this.#head.length - end - 4))
      this.#begin(this.#head.slice(0, end))
    }
    const rest = (this.#rest ?? 0) - body.length
    this.#rest = rest
    this.#tail = (this.#tail + body.toString("latin1", Math.max(0, body.length - 5))).slice(-5)
    if (rest === Number.POSITIVE_INFINITY ? this.#tail !== "0\r\n\r\n" : rest > 0) return null
    this.#head = ""
    this.#tail = ""
    this.#rest = null
    return this.#status
  }

  #begin(head: string) {
    this.#status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head)
    this.#rest = isChunked ? Number.POSITIVE_INFINITY : Number(length ?? 0)
  }
}

answerCommands(commands)
