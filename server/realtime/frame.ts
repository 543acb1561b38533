/** Engine.IO's type of what carries a message. */
const MESSAGE = "4"

/**
 * A message as Engine.IO's options take it when its WebSocket frame is made already, as the socket.io adapter does for broadcasts.
 * Writing is most of what a delivery costs, and one buffer costs less of it than header and payload apart.
 */
export function framed(text: string): { compress: false; wsPreEncodedFrame: [Buffer] } {
  return { compress: false, wsPreEncodedFrame: [messageFrame(text)] }
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
