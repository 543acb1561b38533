// To the garbage collector a chunk of a large body is a few words, with a quarter of a megabyte
// outside the heap. Otherwise such memory counts towards the heap limit until a full collection,
// which then runs over and over while a file is transferred.

const offered = new WeakSet<ArrayBufferLike>()

/** Lets the last user of the chunk release its memory. It has to be the only view of its buffer. */
export function offerMemory<Chunk extends Uint8Array>(chunk: Chunk): Chunk {
  if (chunk.byteLength === chunk.buffer.byteLength) offered.add(chunk.buffer)
  return chunk
}

/** Releases the memory of a chunk and leaves it empty. Other chunks are not affected. */
export function freeMemory({ buffer }: Uint8Array): void {
  if (offered.delete(buffer) && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
