import { createServer } from "node:http"
import { connect, type AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import { expect, it, onTestFinished } from "vitest"
import { writeBody } from "#server/transport/body-writer.ts"

it("a body that fails while its client reads nothing fails its own response alone", async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on("unhandledRejection", note)
  onTestFinished(() => void process.off("unhandledRejection", note))

  const failed = Promise.withResolvers<unknown>()
  const asked = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>()
  const sent = [new Uint8Array(1_000), new Uint8Array(16_000_000)]
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = sent.shift()
        if (chunk) controller.enqueue(chunk)
        // The third chunk never comes.
        else asked.resolve(controller)
      },
    },
    { highWaterMark: 0 },
  )
  const server = createServer((incoming, outgoing) => {
    writeBody(body, incoming, outgoing).catch(failed.resolve)
  }).listen(0)
  onTestFinished(() => void server.close())
  const client = connect((server.address() as AddressInfo).port).pause()
  onTestFinished(() => void client.destroy())
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")

  const controller = await asked.promise
  // The writer now waits for the client. An unhandled rejection is reported in the next turn.
  await setTimeout(100)
  controller.error(new Error("lost"))
  await setTimeout(100)
  expect(unhandled).toEqual([])
  client.destroy()
  expect(await failed.promise).toMatchObject({ message: "lost" })
})
