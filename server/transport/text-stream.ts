import { ReadableStream, TextEncoderStream } from "node:stream/web"

/** A body of texts that are produced while it is read. */
export function streamTexts(texts: AsyncIterable<string>): globalThis.ReadableStream<Uint8Array> {
  return ReadableStream.from(texts).pipeThrough(new TextEncoderStream())
}
