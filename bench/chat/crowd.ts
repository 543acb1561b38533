import { Agent, request } from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import { answerCommands } from "../program.ts"
import { now } from "../statistics.ts"
import { DELTAS, deltasIn } from "./streams.ts"

// Run as a program: the readers. Each sends a message, reads the reply to its end, and repeats.

export interface Reader {
  path: string
  headers: Record<string, string>
  /** The JSON bodies of its requests, in order. Each names a different stream. */
  bodies: string[]
  /** The number of its first stream; the others follow consecutively. */
  stream: number
}

const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
let asked: number[] = []
let streams: number[] = []
let deltas: number[] = []
let times: number[] = []
let failures: string[] = []
let goOn = false
let reading: Promise<unknown> = Promise.resolve()

const commands = {
  /**
   * Starts the readers one after the other, evenly over `ramp` ms. Without `again` each sends one
   * message only.
   */
  begin(port: number, readers: Reader[], { ramp, again }: { ramp: number; again: boolean }) {
    goOn = again
    reading = Promise.all(
      readers.map(async (reader, index) => {
        await pause((ramp * index) / readers.length)
        for (const [turn, body] of reader.bodies.entries()) {
          await read(port, reader, body, reader.stream + turn)
          if (!goOn) return
        }
      }),
    )
  },
  /**
   * Waits for the replies in progress. Returns when each stream was requested, and the arrival time
   * of each delta by stream.
   */
  async finish() {
    goOn = false
    await reading
    const all = {
      asked: Float64Array.from(asked),
      streams: Float64Array.from(streams),
      deltas: Float64Array.from(deltas),
      times: Float64Array.from(times),
      failures,
    }
    asked = []
    streams = []
    deltas = []
    times = []
    failures = []
    return all
  },
}
export type CrowdCommands = typeof commands

answerCommands(commands)

function read(port: number, { path, headers }: Reader, body: string, stream: number): Promise<void> {
  return new Promise((resolve) => {
    let rest = ""
    let count = 0
    const question = request({ agent, port, host: "127.0.0.1", method: "POST", path, headers }, (answer) => {
      answer.setEncoding("latin1")
      answer.on("data", (piece: string) => {
        const time = now()
        const found = deltasIn(rest + piece)
        rest = found.rest
        count += found.numbers.length
        for (const number of found.numbers) {
          streams.push(stream)
          deltas.push(number)
          times.push(time)
        }
      })
      answer.on("error", () => {})
      answer.on("close", () => end(`status ${answer.statusCode}, ${count} deltas`))
    })
    question.on("error", (error) => end(error.message))
    asked[stream] = now()
    question.end(body)

    function end(outcome: string) {
      if (count !== DELTAS) failures.push(outcome)
      resolve()
    }
  })
}
