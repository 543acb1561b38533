import { createCipheriv } from "node:crypto"
import { readFileSync } from "node:fs"
import { request, type ClientRequest, type IncomingMessage } from "node:http"

const PIECE = 1024 * 1024

/**
 * Generates the bytes of a file from `offset` on, in chunks: the same each time, and no two chunks
 * alike.
 */
export function* bytesFrom(offset: number, size: number): Generator<Buffer> {
  for (let at = offset; at < size;) {
    const inPiece = at % PIECE
    const piece = pieceOf(Math.floor(at / PIECE)).subarray(inPiece, Math.min(PIECE, inPiece + size - at))
    yield piece
    at += piece.length
  }
}

const zeros = Buffer.alloc(PIECE)
const last = { index: -1, bytes: zeros }

function pieceOf(index: number): Buffer {
  if (last.index === index) return last.bytes
  const iv = Buffer.alloc(16)
  iv.writeUInt32BE(index)
  const bytes = createCipheriv("aes-128-ctr", Buffer.alloc(16, "key"), iv).update(zeros)
  Object.assign(last, { index, bytes })
  return bytes
}

/** Sends bytes at the server's pace until it responds, or the connection breaks: then null. */
export async function sendBytes(
  address: URL,
  options: { method: string; headers: Record<string, string> },
  bytes: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<IncomingMessage | null> {
  const sent = request(address, options)
  const ended = new Promise<IncomingMessage | null>((resolve) => {
    sent.on("response", resolve)
    sent.on("error", () => resolve(null))
    sent.on("close", () => resolve(null))
  })
  void writeAll(sent, bytes)
  const response = await ended
  response?.resume()
  return response
}

async function writeAll(sent: ClientRequest, bytes: Iterable<Buffer> | AsyncIterable<Buffer>) {
  for await (const piece of bytes) {
    if (sent.destroyed || sent.closed) return
    if (!sent.write(piece)) await drained(sent)
  }
  sent.end()
}

function drained(sent: ClientRequest) {
  return new Promise<void>((resolve) => {
    const done = () => {
      sent.off("drain", done)
      sent.off("close", done)
      resolve()
    }
    sent.on("drain", done)
    sent.on("close", done)
  })
}

/** Whether the body is the whole file that `bytesFrom` generates. */
export async function isSame(body: AsyncIterable<Uint8Array>, size: number): Promise<boolean> {
  let at = 0
  for await (const chunk of body) {
    const expected = Buffer.concat([...bytesFrom(at, Math.min(size, at + chunk.length))])
    if (!expected.equals(chunk)) return false
    at += chunk.length
  }
  return at === size
}

/** Memory that the process uses, in bytes; 0 for one that is dead. Linux only. */
export function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024
}
