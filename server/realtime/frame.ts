import type { Socket } from "socket.io"

/** Engine.IO's type of what carries a message. */
const MESSAGE = "4"

/** The part of a connection's `ws` used here, as Engine.IO itself uses it for prepared frames. */
interface WebSocketUnderneath {
  readonly readyState: number
  readonly OPEN: number
  readonly _sender: { sendFrame(frame: readonly Buffer[]): void }
}

/**
 * Returns a function that sends messages over a connection. Writing is most of the cost of a
 * delivery, and one buffer is cheaper than a separate header and payload. While Engine.IO's queue
 * is empty, a frame bypasses it, because its packets, callbacks and events add half the cost of the
 * write again; otherwise the frame is queued.
 */
export function createSender({ conn }: Pick<Socket, "conn">): (text: string) => void {
  const { transport } = conn
  const ws = "socket" in transport && isWebSocket(transport.socket) ? transport.socket : null
  return (text) => {
    const frame = messageFrame(text)
    if (ws && ws.readyState === ws.OPEN && transport.writable && conn.readyState === "open") {
      const { _sender: sender } = ws
      sender.sendFrame([frame])
    } else conn.write(text, preEncoded(frame))
  }
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
