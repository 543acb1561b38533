import { randomBytes } from "node:crypto"
import { describe, expect, it } from "vitest"
import { amount } from "../realtime/support/form.ts"
import { exchange, openConnection, readAll, statusesOf } from "../support/raw-http.ts"
import { withTideline } from "../support/with-tideline.ts"

const STRINGS = amount(500, 60_000)

const { app } = withTideline()

describe("a malformed request", () => {
  const host = "Host: localhost"
  const end = "Connection: close\r\n\r\n"

  const REFUSED: Record<string, string> = {
    "a target of two slashes": `GET // HTTP/1.1\r\n${host}\r\n${end}`,
    "a target that leads to another host": `GET //evil.example HTTP/1.1\r\n${host}\r\n${end}`,
    "a backslash that becomes a slash": `GET /\\evil.example HTTP/1.1\r\n${host}\r\n${end}`,
    "dots that leave a slash behind": `GET /.//evil.example HTTP/1.1\r\n${host}\r\n${end}`,
    "an absolute-form target": `GET http://evil.example/ HTTP/1.1\r\n${host}\r\n${end}`,
    "an asterisk": `OPTIONS * HTTP/1.1\r\n${host}\r\n${end}`,
    "a target without a slash": `GET api/health HTTP/1.1\r\n${host}\r\n${end}`,
    "a fragment": `GET /#top HTTP/1.1\r\n${host}\r\n${end}`,
    "raw bytes in the target": `GET /\xff\xfe HTTP/1.1\r\n${host}\r\n${end}`,
    "a control character in the target": `GET /\x01 HTTP/1.1\r\n${host}\r\n${end}`,
    "a Host with a space": `GET / HTTP/1.1\r\nHost: local host\r\n${end}`,
    "a Host with a path": `GET / HTTP/1.1\r\nHost: localhost/evil\r\n${end}`,
    "a Host with a user": `GET / HTTP/1.1\r\nHost: user@localhost\r\n${end}`,
    "two Hosts": `GET / HTTP/1.1\r\n${host}\r\nHost: evil.example\r\n${end}`,
    "the same Host twice": `GET / HTTP/1.1\r\n${host}\r\n${host}\r\n${end}`,
    "no Host": `GET / HTTP/1.1\r\n${end}`,
    "two different lengths": `POST /api/email HTTP/1.1\r\n${host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n${end}{}`,
    "a length beside chunks": `POST /api/email HTTP/1.1\r\n${host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n${end}0\r\n\r\n`,
    "chunks that are none": `POST /api/email HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n${end}zz\r\n`,
    "an encoding twice": `POST /api/email HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked, identity\r\n${end}0\r\n\r\n`,
    "a negative length": `POST /api/email HTTP/1.1\r\n${host}\r\nContent-Length: -1\r\n${end}`,
    "a header name with a space": `GET / HTTP/1.1\r\n${host}\r\nBad Name: x\r\n${end}`,
    "a header that is folded": `GET / HTTP/1.1\r\n${host}\r\nX-Folded: a\r\n b\r\n${end}`,
    "a NUL in a header": `GET / HTTP/1.1\r\n${host}\r\nX-Nul: a\0b\r\n${end}`,
    "too long a target": `GET /${"a".repeat(20_000)} HTTP/1.1\r\n${host}\r\n${end}`,
    "too many headers": `GET / HTTP/1.1\r\n${host}\r\n${"X-Many: many\r\n".repeat(2_000)}${end}`,
    "a method that is none": `F\xc3\xb6O / HTTP/1.1\r\n${host}\r\n${end}`,
    "another protocol": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "HTTP/2 out of the blue": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  }

  it.each(Object.entries(REFUSED))("is refused: %s", async (_, request) => {
    const statuses = statusesOf(await exchange(app.port, Buffer.from(request, "latin1")))
    expect(statuses.length, "answers").toBeLessThanOrEqual(1)
    for (const status of statuses) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(500)
    }
  })

  it.each(["TRACE", "TRACK", "CONNECT"])("is refused: the method %s", async (method) => {
    const answer = await exchange(app.port, `${method} / HTTP/1.1\r\n${host}\r\n${end}`)
    for (const status of statusesOf(answer)) expect([400, 405, 501]).toContain(status)
  })

  it("gets a refusal with the headers that every response has", async () => {
    const answer = await exchange(app.port, `GET // HTTP/1.1\r\n${host}\r\n${end}`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toMatch(/^content-security-policy: default-src 'none'/im)
    expect(answer).toMatch(/^x-content-type-options: nosniff/im)
    expect(answer).toMatch(/"error":"The request target is not a path."/)
  })

  it(`never crashes the process, whatever ${STRINGS} random byte strings contain`, async () => {
    const remaining = Array.from({ length: STRINGS }, (_, number) => number)
    const connections = Array.from({ length: 50 }, async () => {
      while (remaining.pop() !== undefined) {
        for (const status of statusesOf(await exchange(app.port, randomRequest())))
          expect(status).toBeGreaterThanOrEqual(200)
      }
    })
    await Promise.all(connections)
    expect((await fetch(`${app.origin}/api/health`)).status).toBe(200)
  }, 900_000)

  it("does not hold its connection open if the client sends nothing more", async () => {
    const socket = await openConnection(app.port)
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    const begun = performance.now()
    expect(statusesOf(await readAll(socket)).every((status) => status === 408)).toBe(true)
    expect(performance.now() - begun).toBeLessThan(50_000)
  }, 60_000)
})

describe("a request's URL", () => {
  it("has the configured origin, whatever the Host header says", async () => {
    const answer = await exchange(
      app.port,
      "GET /dashboard HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n",
    )
    expect(answer).toMatch(/^HTTP\/1\.1 302 /)
    expect(answer).not.toContain("evil.example")
  })
})

/** Sometimes almost a request, sometimes nothing like one. */
function randomRequest() {
  const noise = randomBytes(Math.floor(Math.random() * 200))
  const shapes = [
    noise,
    Buffer.concat([Buffer.from("GET /"), noise, Buffer.from(" HTTP/1.1\r\nHost: localhost\r\n\r\n")]),
    Buffer.concat([Buffer.from("GET / HTTP/1.1\r\nHost: "), noise, Buffer.from("\r\n\r\n")]),
    Buffer.concat([
      Buffer.from("GET / HTTP/1.1\r\nHost: localhost\r\nCookie: "),
      noise,
      Buffer.from("\r\n\r\n"),
    ]),
    Buffer.concat([
      Buffer.from("POST /api/email HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n"),
      noise,
    ]),
    Buffer.concat([
      Buffer.from(`GET /${encodeURIComponent(noise.toString("latin1"))}`),
      Buffer.from(" HTTP/1.1\r\nHost: x\r\n\r\n"),
    ]),
  ]
  return shapes[Math.floor(Math.random() * shapes.length)] ?? noise
}
