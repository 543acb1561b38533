import type { Socket } from "node:net"

/**
 * Lets what comes from one go to the other, and ends both with either. They are among `joined`
 * while they are open.
 */
export function joinSockets(first: Socket, second: Socket, joined: Set<Socket>): void {
  for (const [one, other] of [
    [first, second],
    [second, first],
  ] as const) {
    joined.add(one)
    one.on("error", () => other.destroy())
    one.on("close", () => {
      joined.delete(one)
      other.destroy()
    })
    one.pipe(other)
  }
}
