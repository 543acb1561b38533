import type { Socket as NetSocket } from "node:net"
import type { Socket } from "socket.io"

/** Engine.IO's type of what carries a message. */
const MESSAGE = "4"

/** The part of a connection's `ws` used here, as Engine.IO itself uses it for prepared frames. */
interface WebSocketUnderneath {
  readonly readyState: number
  readonly OPEN: number
  readonly _sender: { sendFrame(frame: readonly Buffer[]): void }
  readonly _socket: NetSocket | null
}

/**
 * Returns a function that sends messages over a connection. Writing is most of the cost of a
 * delivery, and one buffer is cheaper than a separate header and payload. While Engine.IO's queue
 * is empty, a frame bypasses it, because its packets, callbacks and events add half the cost of the
 * write again; otherwise the frame is queued.
 */
export function createSender({ conn }: Pick<Socket, "conn">): (text: string) => void {
  const { transport } = conn
  const ws = webSocketOf(conn)
  return (text) => {
    const frame = messageFrame(text)
    if (ws && ws.readyState === ws.OPEN && transport.writable && conn.readyState === "open") {
      const { _sender: sender } = ws
      sender.sendFrame([frame])
    } else conn.write(text, preEncoded(frame))
  }
}

/** Null once the connection is closed. */
export function tcpSocketOf({ conn }: Pick<Socket, "conn">): NetSocket | null {
  const { _socket: tcp = null } = webSocketOf(conn) ?? {}
  return tcp
}

/**
 * Lets what is written during this turn of the event loop leave in one system call, which is most
 * of the cost of a write.
 */
export function coalesceWrites(socket: NetSocket | null): void {
  if (!socket) return
  socket.cork()
  setImmediate(() => socket.uncork())
}

function webSocketOf({ transport }: Socket["conn"]): WebSocketUnderneath | null {
  return "socket" in transport && isWebSocket(transport.socket) ? transport.socket : null
}

function isWebSocket(value: unknown): value is WebSocketUnderneath {
  const { _sender: sender } = (value ?? {}) as Partial<WebSocketUnderneath>
  return typeof sender?.sendFrame === "function"
}

/**
 * Engine.IO's options for a message with a prepared frame, as the socket.io adapter passes them for
 * broadcasts.
 */
function preEncoded(frame: Buffer): { compress: false; wsPreEncodedFrame: [Buffer] } {
  return { compress: false, wsPreEncodedFrame: [frame] }
}

/** One text frame, whole and not masked: RFC 6455, section 5.2. */
export function messageFrame(text: string): Buffer {
  const length = MESSAGE.length + Buffer.byteLength(text)
  const header = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(header + length)
  frame[0] = 0x81
  if (header === 2) frame[1] = length
  else if (header === 4) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  frame.write(MESSAGE + text, header)
  return frame
}
