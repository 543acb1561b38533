import type { Socket } from "socket.io"

/** Engine.IO's type of what carries a message. */
const MESSAGE = "4"

/**
 * What is used of a connection's `ws`, as Engine.IO itself uses it for frames that are made
 * already.
 */
interface WebSocketUnderneath {
  readonly readyState: number
  readonly OPEN: number
  readonly _sender: { sendFrame(frame: readonly Buffer[]): void }
}

/**
 * Returns what sends messages over a connection. Writing is most of what a delivery costs, and one
 * buffer costs less of it than header and payload apart. While Engine.IO has nothing waiting, a
 * frame goes past its queue, whose packets, callbacks and events cost half as much as the writing
 * again; else it waits there for its turn.
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
 * Options as Engine.IO takes them with a message whose frame is made already, as the socket.io
 * adapter gives them for broadcasts.
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
