import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { amount, LONG } from "../realtime/support/form.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { signUp, type Person } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"

const HALF_OPEN = amount(1000, 10_000)
const SLOW_BODIES = amount(200, 1000)
/**
 * The long form takes some minutes. It needs Linux, where the loopback network has more than one
 * address, and `ulimit -n` of 12,000.
 */
const ADDRESSES = LONG ? ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7"] : []

let app: TidelineApp
let ops: string
let ada: Person

beforeAll(async () => {
  const port = await findFreePort()
  ops = `http://127.0.0.1:${port}`
  app = await startTideline({ OPS_PORT: String(port) })
  ada = await signUp(app, { name: "Ada", email: "ada@example.org" })
})

afterAll(() => app.stop())

describe("a crowd of unfinished requests", () => {
  it(
    `blocks nobody else: ${HALF_OPEN} half requests, ${SLOW_BODIES} slow bodies`,
    async () => {
      const crowd: Socket[] = []
      for (let number = 0; number < HALF_OPEN; number++)
        crowd.push(await arrive(number, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "))
      for (let number = 0; number < SLOW_BODIES; number++) crowd.push(await arrive(number, slowBody(number)))
      await expect
        .poll(() => readMetric("tideline_http_connections_open"), { timeout: 15_000 })
        .toBeGreaterThanOrEqual(SLOW_BODIES)

      for (let round = 0; round < amount(20, 200); round++) {
        const visitor = await fetch(`${app.origin}/features`)
        expect(visitor.status).toBe(200)
        await visitor.text()
        const files = await ada("/api/files")
        expect(files.status).toBe(200)
        await files.text()
        // They continue as slowly as they may.
        for (const socket of crowd.slice(round * 50, round * 50 + 50)) if (socket.writable) socket.write("x")
      }
      const uploaded = await ada("/api/files", { method: "POST", body: formWith("a file of mine") })
      expect(uploaded.status).toBe(201)
      await expect(fetch(`${ops}/readyz`).then(({ status }) => status)).resolves.toBe(200)

      for (const socket of crowd) socket.destroy()
      await expect
        .poll(() => readMetric("tideline_http_connections_open"), { timeout: 15_000 })
        .toBeLessThan(20)
      expect(app.log.filter((line) => line.includes('"level":50'))).toEqual([])
    },
    LONG ? 600_000 : 120_000,
  )
})

async function arrive(number: number, words: string): Promise<Socket> {
  const localAddress = ADDRESSES[number % ADDRESSES.length]
  const socket = connect({ port: app.port, host: "127.0.0.1", ...(localAddress && { localAddress }) })
  socket.on("error", () => {})
  socket.resume()
  await Promise.race([once(socket, "connect"), once(socket, "close")])
  if (socket.writable) socket.write(words)
  return socket
}

/** Other people's emails, and files of a signed-in user. */
function slowBody(number: number): string {
  const [path, type] =
    number % 2 === 0 ? ["/api/email", "application/json"] : ["/api/files", "multipart/form-data; boundary=b"]
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: 5000\r\n`
  return number % 2 === 0
    ? `${head}\r\n{"to":"`
    : `${head}Cookie: ${ada.cookie()}\r\nOrigin: ${app.origin}\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`
}

function formWith(text: string): FormData {
  const form = new FormData()
  form.append("file", new Blob([text]), "mine.txt")
  return form
}

async function readMetric(name: string): Promise<number> {
  const text = await (await fetch(`${ops}/metrics`)).text()
  return Number(new RegExp(`^${name} ([0-9]+)$`, "m").exec(text)?.[1])
}
