import { connect, type Socket } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { answerCommands } from "../program.ts"
import { now, percentile } from "../statistics.ts"

// Sends requests to one server over many connections; each sends the next as soon as it has its
// response.

export interface Load {
  port: number
  path: string
  /**
   * Lines of the request, without the first and the Host. `{address}` becomes an address of a crowd
   * of 20,000.
   */
  headers: readonly string[]
  connections: number
  /** What is asked before the measure begins, so that machine code and connections are warm. */
  warmUp: number
  seconds: number
  status: number
}

const ADDRESSES = 20_000

const commands = {
  /**
   * Latencies in ms. The first answer of each connection is apart: it waits for all the others to
   * be accepted.
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
   * Each connection asks once, and again when all are open: Node accepts one a turn, so those that
   * ask at once would keep the others waiting.
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

  /** Resolves with what asks again, at the first answer or when there is none. */
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

/** One response at a time: a connection sends nothing before its response is complete. */
class ResponseReader {
  #head = ""
  #status = 0
  /**
   * Bytes that are still to come; null while the head is read, and infinite where chunks say the
   * end.
   */
  #rest: number | null = null
  #tail = ""

  /** The status of the answer that these bytes complete, or null. */
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
