import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { request as nodeRequest, type IncomingMessage } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import {
  brotliCompressSync,
  brotliDecompressSync,
  createBrotliDecompress,
  gunzipSync,
  gzipSync,
} from "node:zlib"
import { describe, expect, it, onTestFinished } from "vitest"
import { readConfig } from "#server/config.ts"
import { NotFound } from "#server/errors.ts"
import { createHttpServer, serveRequests, type Front } from "#server/transport/listener.ts"
import { createFileServer } from "#server/transport/static.ts"
import { openLog } from "#server/log.ts"
import { portOf } from "../support/port-of.ts"
import { exchange, openConnection, readAll, statusesOf } from "../support/raw-http.ts"

const SETTINGS = {
  NODE_ENV: "production",
  AUTH_SECRET: "a secret for tests, and for nothing else",
  LOG_LEVEL: "silent",
}
const LONG = "A line of text that is long enough to be worth its compression. ".repeat(100)

describe("a request", () => {
  it("has the configured origin, with its path and query as they were sent", async () => {
    const { port } = await serve(async (request) => new Response(request.url), {
      APP_URL: "https://tideline.example.org",
      SMTP_URL: "smtp://mail.example.org",
    })
    const answer = await exchange(
      port,
      "GET /a%20b/?c=%2F&d HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Proto: http\r\nConnection: close\r\n\r\n",
    )
    expect(answer).toMatch(/\r\n\r\nhttps:\/\/tideline\.example\.org\/a%20b\/\?c=%2F&d$/)
  })

  it("has its body, however it was split into packets", async () => {
    const { port } = await serve(async (request) => new Response(await request.text()))
    const socket = await openConnection(port)
    const answer = readAll(socket)
    socket.write(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\none\r\n",
    )
    socket.write("3\r\ntwo\r\n0\r\n\r\n")
    expect(await answer).toMatch(/\r\n\r\nonetwo$/)
  })

  it("joins several Cookie headers into one", async () => {
    const { port } = await serve(async (request) => new Response(request.headers.get("cookie")))
    const answer = await exchange(
      port,
      "GET / HTTP/1.1\r\nHost: x\r\nCookie: a=1\r\nCookie: b=2\r\nConnection: close\r\n\r\n",
    )
    expect(answer).toMatch(/\r\n\r\na=1; b=2$/)
  })

  it("is read no faster than it is consumed", async () => {
    const reading = Promise.withResolvers<void>()
    let received = 0
    const { port } = await serve(async (request) => {
      await reading.promise
      for await (const chunk of request.body ?? []) received += chunk.byteLength
      return new Response(String(received))
    })
    const size = 64 * 1024 * 1024
    const socket = await openConnection(port)
    const answer = readAll(socket)
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\nConnection: close\r\n\r\n`)
    const isTaken = socket.write(Buffer.alloc(size))
    expect(isTaken).toBe(false)
    expect(socket.writableLength).toBeGreaterThan(size / 2) // the rest waits with its sender
    reading.resolve()
    expect(await answer).toMatch(new RegExp(`\\r\\n\\r\\n${size}$`))
  })

  it("receives its refusal while it is still sending", async () => {
    const { port } = await serve(async () => new Response("too large", { status: 413 }))
    const socket = await openConnection(port)
    const answer = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(String(chunk))))
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n")
    socket.write(Buffer.alloc(5_000_000))
    expect(statusesOf(await answer)).toEqual([413])
    socket.destroy()
  })

  it("is aborted when its sender disconnects", async () => {
    const arrived = Promise.withResolvers<AbortSignal>()
    const { port } = await serve(async (request) => {
      arrived.resolve(request.signal)
      await once(request.signal, "abort")
      return new Response("nobody reads this")
    })
    const socket = await openConnection(port)
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    const signal = await arrived.promise
    const aborted = once(signal, "abort")
    socket.destroy()
    await aborted
  })

  it("is not aborted once the response is complete", async () => {
    let signal: AbortSignal | undefined
    const { origin } = await serve(async (request) => {
      signal = request.signal
      return new Response("done")
    })
    await (await fetch(origin)).text()
    expect(signal?.aborted).toBe(false)
  })
})

describe("a response", () => {
  it("keeps each of its cookies", async () => {
    const { origin } = await serve(
      async () =>
        new Response("ok", {
          headers: [
            ["set-cookie", "a=1, really"],
            ["set-cookie", "b=2"],
          ],
        }),
    )
    expect((await fetch(origin)).headers.getSetCookie()).toEqual(["a=1, really", "b=2"])
  })

  it("has no body for HEAD, and its source is cancelled", async () => {
    const body = source(["text"])
    const { origin } = await serve(
      async () => new Response(body.stream, { headers: { "content-length": "4" } }),
    )
    const response = await fetch(origin, { method: "HEAD" })
    expect(response.headers.get("content-length")).toBe("4")
    expect(await response.text()).toBe("")
    expect(await body.cancelled).toBeUndefined()
  })

  it("is produced no faster than it is read, and stops when its reader disconnects", async () => {
    const body = source(Array.from({ length: 10_000 }, () => "x".repeat(64 * 1024)))
    const { port } = await serve(
      async () => new Response(body.stream, { headers: { "content-type": "application/octet-stream" } }),
    )
    const socket = await openConnection(port)
    socket.pause()
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await body.idle()
    expect(body.made()).toBeLessThan(500) // of 10,000: what the system keeps for a connection
    socket.destroy()
    await body.cancelled
  })

  it("that breaks off closes the connection, so that the part is not mistaken for the whole", async () => {
    const half = Promise.withResolvers<void>()
    const { origin } = await serve(async () => {
      const broken = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.from("the first half")),
        pull: () => half.promise.then(() => Promise.reject(new Error("the source broke"))),
      })
      return new Response(broken)
    })
    const response = await fetch(origin)
    const reader = response.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("the first half")
    half.resolve()
    await expect(reader?.read()).rejects.toThrow()
  })

  it("is a plain 500 if its source fails before anything was sent", async () => {
    const { origin } = await serve(
      async () => new Response(new ReadableStream({ pull: () => Promise.reject(new Error("no")) })),
    )
    expect((await fetch(origin)).status).toBe(500)
  })

  it("is the refusal with which its source fails before anything was sent", async () => {
    const headers = { "Content-Disposition": "attachment", "Content-Length": "8", ETag: '"a"' }
    const { origin } = await serve(async () => {
      const lost = new ReadableStream({ pull: () => Promise.reject(new NotFound("space")) })
      return new Response(lost, { headers })
    })
    const response = await fetch(origin)
    expect(response.status).toBe(404)
    expect(response.headers.get("content-disposition")).toBeNull()
    expect(await response.json()).toEqual({
      error: "There is no such space, or you are not a member of it.",
      reason: "no-such-space",
    })
  })

  it("is a plain 500 if the application throws, and does not reveal why", async () => {
    const { origin } = await serve(() => Promise.reject(new Error("the password is tell-nobody")))
    const response = await fetch(origin)
    expect(response.status).toBe(500)
    expect(await response.text()).toBe('{"error":"Internal server error"}')
  })

  it("allows scripts with its own nonce only", async () => {
    const { origin } = await serve(async (_, { nonce }) => new Response(nonce))
    const [first, second] = await Promise.all([fetch(origin), fetch(origin)])
    const nonces = [await first.text(), await second.text()]
    expect(nonces[0]).not.toBe(nonces[1])
    expect(first.headers.get("content-security-policy")).toContain(
      `script-src 'nonce-${nonces[0]}' 'strict-dynamic';`,
    )
    expect(first.headers.get("x-request-id")).not.toBe(second.headers.get("x-request-id"))
  })

  it("allows no style attribute, except where Clerk's components need them", async () => {
    expect(await policyOf({})).toContain("style-src-attr 'none';")
    const clerk = {
      CLERK_PUBLISHABLE_KEY: "pk_test_Y2xlcmsuZXhhbXBsZS5jb20k",
      CLERK_SECRET_KEY: "sk_test_0000000000000000000000",
      JWT_ISSUER_DOMAIN: "https://clerk.example.com",
    }
    expect(await policyOf(clerk)).toContain("style-src-attr 'unsafe-inline';")
  })

  it("has the security headers, and HSTS if the site uses TLS", async () => {
    const plain = await fetch((await serve(async () => new Response("ok"))).origin)
    expect(Object.fromEntries(plain.headers)).toMatchObject({
      "content-security-policy": expect.stringMatching(
        /^default-src 'none'; .*base-uri 'none'; object-src 'none'; frame-ancestors 'none'$/,
      ),
      "x-content-type-options": "nosniff",
      "referrer-policy": "strict-origin-when-cross-origin",
      "cross-origin-opener-policy": "same-origin-allow-popups",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": expect.stringContaining("camera=()"),
    })
    expect(plain.headers.has("strict-transport-security")).toBe(false)
    const secure = { APP_URL: "https://tideline.example.org", SMTP_URL: "smtp://mail.example.org" }
    const { origin } = await serve(async () => new Response("ok"), secure)
    expect((await fetch(origin)).headers.get("strict-transport-security")).toBe("max-age=31536000")
  })
})

describe("compression", () => {
  const html = async () => new Response(LONG, { headers: { "content-type": "text/html; charset=utf-8" } })

  it.each([
    ["br, gzip", "br"],
    ["gzip, deflate", "gzip"],
    ["br;q=0, gzip;q=0.5", "gzip"],
    ["identity", undefined],
    ["br;q=0, gzip;q=0.0", undefined],
  ])("responds to %s with %s", async (accepted, encoding) => {
    const { port } = await serve(html)
    const { headers, body } = await get(port, "/", { "accept-encoding": accepted })
    expect(headers["content-encoding"]).toBe(encoding)
    expect(headers.vary).toContain("accept-encoding")
    const decode = { br: brotliDecompressSync, gzip: gunzipSync, none: (bytes: Buffer) => bytes }[
      encoding ?? "none"
    ]
    expect(decode?.(body).toString()).toBe(LONG)
  })

  it.each([
    ["a short body", { "content-type": "text/html" }, "short"],
    ["a body that is not text", { "content-type": "image/png" }, LONG],
    ["an event stream", { "content-type": "text/event-stream" }, LONG],
    [
      "a response marked no-transform",
      { "content-type": "text/plain", "cache-control": "no-transform" },
      LONG,
    ],
  ])("leaves %s alone", async (_, headers, text) => {
    const { port } = await serve(async () => new Response(text, { headers }))
    const response = await get(port, "/", { "accept-encoding": "br" })
    expect(response.headers["content-encoding"]).toBeUndefined()
    expect(response.body.toString()).toBe(text)
  })

  it("passes on what is available while the rest is still being produced", async () => {
    const rest = Promise.withResolvers<void>()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from(`<p>${LONG}</p>`)),
      pull: async (controller) => {
        await rest.promise
        controller.enqueue(Buffer.from("<p>the rest</p>"))
        controller.close()
      },
    })
    const { port } = await serve(async () => new Response(body, { headers: { "content-type": "text/html" } }))
    const incoming = await open(port, "/", { "accept-encoding": "br" })
    const text = incoming.pipe(createBrotliDecompress()).setEncoding("utf8")
    let shown = ""
    for await (const part of text) {
      shown += String(part)
      if (shown.endsWith("</p>")) rest.resolve()
    }
    expect(shown).toBe(`<p>${LONG}</p><p>the rest</p>`)
  })
})

describe("the build's files", () => {
  it("never change under /assets, and are sent precompressed", async () => {
    const { port } = await serveFiles()
    const { status, headers, body } = await get(port, "/assets/app-4f2a.js", {
      "accept-encoding": "gzip, br",
    })
    expect(status).toBe(200)
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable")
    expect(headers["content-type"]).toBe("text/javascript; charset=utf-8")
    expect(headers["content-encoding"]).toBe("br")
    expect(Number(headers["content-length"])).toBe(body.byteLength)
    expect(brotliDecompressSync(body).toString()).toBe("the script")
    expect(headers["content-security-policy"]).toContain("default-src 'none'")

    const plain = await get(port, "/assets/app-4f2a.js")
    expect(plain.body.toString()).toBe("the script")
    expect(plain.headers.etag).not.toBe(headers.etag)
  })

  it("are revalidated elsewhere, and not sent twice", async () => {
    const { port } = await serveFiles()
    const { headers } = await get(port, "/favicon.svg")
    expect(headers["cache-control"]).toBe("public, no-cache")
    const again = await get(port, "/favicon.svg", { "if-none-match": `"other", W/${headers.etag}` })
    expect(again.status).toBe(304)
    expect(again.body.byteLength).toBe(0)
    expect((await get(port, "/favicon.svg", { "if-none-match": '"other"' })).status).toBe(200)
  })

  it("have no body for HEAD", async () => {
    const { port } = await serveFiles()
    const { status, headers, body } = await get(port, "/favicon.svg", {}, "HEAD")
    expect(status).toBe(200)
    expect(Number(headers["content-length"])).toBe(6)
    expect(body.byteLength).toBe(0)
  })

  it("are the only files served: no path leads outside", async () => {
    const { port } = await serveFiles()
    const elsewhere = [
      "/../secret.txt",
      "/assets/../../secret.txt",
      "/%2e%2e/secret.txt",
      "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
      "/assets/..%5c..%5csecret.txt",
      "/.vite/manifest.json",
      "/favicon.svg/",
      "/favicon.svg%00",
      "/assets",
      "/assets/app-4f2a.js.br",
    ]
    for (const path of elsewhere) {
      const { body } = await get(port, path)
      expect(body.toString(), path).toMatch(/^(the application|There is no such file\.)\s*$/)
    }
  })

  it("return a plain 404 if missing under /assets, and elsewhere fall through to the application", async () => {
    const { port } = await serveFiles()
    expect(await get(port, "/assets/old-1234.js")).toMatchObject({
      status: 404,
      headers: { "cache-control": "no-store" },
    })
    expect((await get(port, "/other")).body.toString()).toBe("the application")
    expect((await get(port, "/favicon.svg", {}, "POST")).body.toString()).toBe("the application")
  })
})

async function policyOf(settings: Record<string, string>) {
  const { origin } = await serve(async () => new Response("ok"), settings)
  return (await fetch(origin)).headers.get("content-security-policy")
}

async function serve(
  handle: Front["handle"],
  settings: Record<string, string> = {},
  serveFile?: Front["serveFile"],
) {
  const server = createHttpServer()
  const config = readConfig({ ...SETTINGS, ...settings })
  const front = {
    handle,
    serveFile: serveFile ?? (async () => false),
    sendPage: () => null,
    close: async () => {},
  }
  serveRequests(server, { config, log: openLog(config.logLevel), front })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const port = portOf(server)
  return { port, origin: `http://127.0.0.1:${port}` }
}

function serveFiles() {
  const folder = mkdtempSync(join(tmpdir(), "tideline-files-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, "client/assets"), { recursive: true })
  mkdirSync(join(folder, "client/.vite"))
  writeFileSync(join(folder, "secret.txt"), "a secret")
  writeFileSync(join(folder, "client/.vite/manifest.json"), "{}")
  writeFileSync(join(folder, "client/favicon.svg"), "<svg/>")
  writeFileSync(join(folder, "client/assets/app-4f2a.js"), "the script")
  writeFileSync(join(folder, "client/assets/app-4f2a.js.br"), brotliCompressSync("the script"))
  writeFileSync(join(folder, "client/assets/app-4f2a.js.gz"), gzipSync("the script"))
  return serve(async () => new Response("the application"), {}, createFileServer(join(folder, "client")))
}

/** The raw bytes: `fetch` would decompress them, and normalise the path. */
async function open(port: number, path: string, headers: Record<string, string> = {}, method = "GET") {
  const outgoing = nodeRequest({ port, path, headers, method, agent: false })
  outgoing.end()
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage]
  return incoming
}

async function get(port: number, path: string, headers?: Record<string, string>, method?: string) {
  const incoming = await open(port, path, headers, method)
  return { status: incoming.statusCode, headers: incoming.headers, body: await buffer(incoming) }
}

/** A body of these parts, which counts how many were read. */
function source(parts: string[]) {
  let made = 0
  let lastAsked = performance.now()
  const cancelled = Promise.withResolvers<void>()
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const part = parts[made]
        if (part === undefined) return controller.close()
        made += 1
        lastAsked = performance.now()
        controller.enqueue(Buffer.from(part))
      },
      cancel: () => cancelled.resolve(),
    },
    { highWaterMark: 0 },
  )
  /** Resolves once nothing was read for half a second. */
  async function idle() {
    while (made === 0 || performance.now() - lastAsked < 500)
      await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { stream, cancelled: cancelled.promise, made: () => made, idle }
}
