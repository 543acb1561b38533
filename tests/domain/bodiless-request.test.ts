import { once } from "node:events"
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, it } from "vitest"
import { toRequest } from "#server/transport/bridge.ts"

const ORIGIN = "https://tideline.example.org"

it("a request without a body behaves like a native one", async () => {
  await using stage = await openStage()
  const request = await stage.ask("/blog?page=2")
  const whole = new Request(`${ORIGIN}/blog?page=2`, { headers: request.headers })

  expect(request).toBeInstanceOf(Request)
  const names = Object.getOwnPropertyNames(Request.prototype) as (keyof Request)[]
  const plain = names.filter((name) => !["constructor", "headers", "signal"].includes(name))
  for (const name of plain.filter((each) => typeof whole[each] !== "function"))
    expect([name, request[name]]).toEqual([name, whole[name]])
  expect([...request.headers]).toEqual([...whole.headers])
  expect(request.headers.get("accept")).toBe("text/html")
})

it("a request without a body can be cloned, and used to construct another request", async () => {
  await using stage = await openStage()
  const request = await stage.ask("/blog")
  for (const copy of [request.clone(), new Request(request.url, request)])
    expect([copy.url, copy.method, copy.headers.get("accept")]).toEqual([
      `${ORIGIN}/blog`,
      "GET",
      "text/html",
    ])
  expect(await request.text()).toBe("")
})

it("the signal of a request without a body reports that the client left, also to late listeners", async () => {
  await using stage = await openStage()
  const request = await stage.ask("/slow")
  const late = await stage.ask("/late")
  const { signal } = request
  expect(signal.aborted).toBe(false)
  const aborted = once(signal, "abort")
  stage.leave()
  await aborted
  await stage.allGone()
  expect(late.signal.aborted).toBe(true)
})

/** A server that never responds to its requests. */
async function openStage() {
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const asked: ReturnType<typeof get>[] = []
  const gone: Promise<unknown>[] = []
  return {
    async ask(path: string): Promise<Request> {
      const client = get({ port, path, host: "127.0.0.1", headers: { accept: "text/html" }, agent: false })
      client.on("error", () => {})
      asked.push(client)
      const [incoming, outgoing] = (await once(server, "request")) as [IncomingMessage, ServerResponse]
      gone.push(once(outgoing, "close"))
      return toRequest(incoming, outgoing, ORIGIN)
    },
    leave: () => asked.forEach((client) => client.destroy()),
    allGone: () => Promise.all(gone),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}
