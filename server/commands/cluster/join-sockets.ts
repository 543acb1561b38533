import type { Socket } from "node:net"

/**
 * Pipes each socket into the other, and ends both with either. They are in `joined` while they are
 * open.
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
