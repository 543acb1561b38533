import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { portOf } from "../../support/port-of.ts"

/**
 * A TCP proxy that can lose the network: it keeps connections open and forwards nothing, like an
 * unplugged cable.
 */
export async function startProxy(targetPort: number) {
  const pairs = new Set<[Socket, Socket]>()
  let stalled = false
  let bytesPerTick: number | null = null
  const server = createServer((inside) => {
    const outside = connect(targetPort, "127.0.0.1")
    const pair: [Socket, Socket] = [inside, outside]
    pairs.add(pair)
    inside.on("data", (chunk) => stalled || outside.write(chunk))
    outside.on("data", (chunk) => {
      if (stalled) return
      inside.write(chunk)
      if (bytesPerTick === null) return
      outside.pause()
      setTimeout(() => outside.resume(), (chunk.length / bytesPerTick) * 10)
    })
    for (const [one, other] of [pair, [outside, inside] as const]) {
      one.on("error", () => {})
      one.on("close", () => {
        if (!stalled) other.destroy()
        pairs.delete(pair)
      })
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `ws://127.0.0.1:${portOf(server)}`,
    /** Drops everything sent from now on, in both directions. */
    stall() {
      stalled = true
    },
    heal() {
      stalled = false
    },
    /** Limits the rate of the server's bytes. */
    slow(bytesPerSecond: number) {
      bytesPerTick = bytesPerSecond / 100
    },
    cut() {
      for (const [inside, outside] of pairs) {
        inside.destroy()
        outside.destroy()
      }
    },
    close() {
      this.cut()
      server.close()
    },
  }
}
