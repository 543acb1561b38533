import type { IncomingMessage, ServerResponse } from "node:http"
import type { Writable } from "node:stream"
import { setImmediate as afterPending } from "node:timers/promises"
import {
  acceptedEncodings,
  createEncoder,
  isCompressible,
  WORTH_COMPRESSING,
  type Encoder,
} from "./compression.ts"
import { freeMemory } from "./spent-memory.ts"

type Read = Promise<ReadableStreamReadResult<Uint8Array>>

/** Writes a body that is known as a whole, compressed if that pays. */
export function writeText(text: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  // A short text is sent in one string with the head. The bytes of a long one have to be counted,
  // which takes as long as encoding it.
  const body = text.length < WORTH_COMPRESSING ? text : Buffer.from(text)
  const length = Buffer.byteLength(body)
  const encoder = chooseEncoder(incoming, outgoing, { short: length < WORTH_COMPRESSING })
  if (!encoder) outgoing.setHeader("content-length", length)
  ;(encoder ?? outgoing).end(body)
}

/**
 * Writes a body at the client's pace, compressed if that pays. Available data is sent whenever the
 * source pauses, so a streamed page shows as early as it would uncompressed. Throws what the source
 * throws.
 */
export async function writeBody(
  body: ReadableStream<Uint8Array>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const reader = body.getReader()
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) reader.cancel("The client went away.").catch(() => {})
  })
  const first = await reader.read()
  if (first.done) return void outgoing.end()
  const second = readNext(reader)
  const isWhole = (await isThere(second)) && (await second).done
  const encoder = chooseEncoder(incoming, outgoing, {
    short: isWhole && first.value.byteLength < WORTH_COMPRESSING,
  })
  if (isWhole) return void (encoder ?? outgoing).end(first.value)
  try {
    await copy(first.value, second, reader, { encoder, outgoing })
  } catch (error) {
    encoder?.destroy()
    throw error
  }
}

function chooseEncoder(incoming: IncomingMessage, outgoing: ServerResponse, { short }: { short: boolean }) {
  if (!isCompressible(outgoing)) return null
  outgoing.appendHeader("vary", "accept-encoding")
  const [encoding] = acceptedEncodings(incoming.headers["accept-encoding"])
  return encoding && !short ? createEncoder(encoding, outgoing) : null
}

async function copy(
  first: Uint8Array,
  second: Read,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { encoder, outgoing }: { encoder: Encoder | null; outgoing: ServerResponse },
) {
  const sink = encoder ?? outgoing
  let chunk = first
  let next = second
  while (!outgoing.destroyed) {
    const written = chunk
    const canContinue = sink.write(written, (error) => {
      if (!error) freeMemory(written)
    })
    if (encoder && !(await isThere(next))) encoder.flush()
    if (!canContinue) await drained(sink, outgoing)
    const result = await next
    if (result.done) break
    chunk = result.value
    next = readNext(reader)
  }
  sink.end()
}

/** Its failure is thrown where it is awaited, which may be long after: the client has to read first. */
function readNext(reader: ReadableStreamDefaultReader<Uint8Array>): Read {
  const read = reader.read()
  read.catch(() => {})
  return read
}

/** Whether the promise is settled, after all pending microtasks and events. */
async function isThere(read: Read) {
  const settled = read.then(
    () => true,
    () => true,
  )
  return Promise.race([settled, afterPending(false)])
}

function drained(sink: Writable, outgoing: ServerResponse) {
  return new Promise<void>((resolve) => {
    const done = () => {
      sink.off("drain", done)
      outgoing.off("close", done)
      resolve()
    }
    sink.on("drain", done)
    outgoing.on("close", done)
    if (outgoing.destroyed || !sink.writableNeedDrain) done()
  })
}
