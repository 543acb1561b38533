import { crc32, deflateSync } from "node:zlib"
import sharp from "sharp"

/** An image of one colour. */
export function image(
  format: "jpeg" | "png" | "webp" | "gif" | "avif",
  [width, height]: [number, number],
): Promise<Buffer> {
  const drawn = sharp({ create: { width, height, channels: 3, background: "#1d7a8c" } })
  return drawn[format]().toBuffer()
}

/** A black PNG of one bit per pixel: a few kilobytes that decompress to the full size. */
export function pixelFlood(side: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header[8] = 1
  const rows = Buffer.alloc((1 + Math.ceil(side / 8)) * side)
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(rows)),
    pngChunk("IEND", Buffer.alloc(0)),
  ])
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const frame = Buffer.alloc(4)
  const sum = Buffer.alloc(4)
  frame.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([frame, body, sum])
}
