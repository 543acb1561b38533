import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { connect, type AddressInfo } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { openRunningRequests } from "#server/running-requests.ts"

it("a request whose client left before it was known who they are is not kept", async () => {
  const left = Promise.withResolvers<ServerResponse>()
  const server = createServer((_request, response) => {
    response.once("close", () => left.resolve(response))
    client.destroy()
  })
  server.listen(0, "127.0.0.1")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1")
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")

  const response = await left.promise
  openRunningRequests().add("ada", response, performance.now())
  expect(response.listenerCount("close")).toBe(0)
})
