import { randomBytes } from "node:crypto"
import { connect } from "node:net"

export interface LightSocket {
  send(text: string): void
  destroy(): void
}

/**
 * A minimal WebSocket client, so that one process can hold thousands: text frames only, masked with
 * zeros, never fragmented. A full client would cost so much that the differences between the
 * servers would not show.
 */
export function openLightSocket(
  port: number,
  path: string,
  handlers: { opened(): void; text(text: string): void; closed(): void },
): LightSocket {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true })
  let left: Buffer = Buffer.alloc(0)
  let upgraded = false
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`,
  )
  socket.on("data", (bytes) => {
    left = left.length === 0 ? bytes : Buffer.concat([left, bytes])
    if (!upgraded && !readUpgrade()) return
    while (readFrame()) {}
  })
  socket.on("error", () => {})
  socket.on("close", () => handlers.closed())

  return {
    send(text) {
      socket.write(frameOf(text))
    },
    destroy: () => socket.destroy(),
  }

  function readUpgrade(): boolean {
    const end = left.indexOf("\r\n\r\n")
    if (end === -1) return false
    const status = left.toString("latin1", 0, 12)
    if (status !== "HTTP/1.1 101") {
      socket.destroy(new Error(`The server answered ${status}.`))
      return false
    }
    left = left.subarray(end + 4)
    upgraded = true
    handlers.opened()
    return true
  }

  function readFrame(): boolean {
    if (left.length < 2) return false
    const opcode = (left[0] ?? 0) & 15
    const short = left[1] ?? 0
    const start = short < 126 ? 2 : short === 126 ? 4 : 10
    if (left.length < start) return false
    const length =
      short < 126 ? short : short === 126 ? left.readUInt16BE(2) : Number(left.readBigUInt64BE(2))
    if (left.length < start + length) return false
    if (opcode === 1) handlers.text(left.toString("utf8", start, start + length))
    left = left.subarray(start + length)
    return true
  }
}

function frameOf(text: string): Buffer {
  const length = Buffer.byteLength(text)
  if (length > 0xffff) throw new Error("A light socket sends short messages only.")
  const start = length < 126 ? 6 : 8
  const frame = Buffer.alloc(start + length)
  frame[0] = 0x81
  frame[1] = 0x80 | (length < 126 ? length : 126)
  if (length >= 126) frame.writeUInt16BE(length, 2)
  frame.write(text, start)
  return frame
}
