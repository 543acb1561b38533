// A chunk of a large body is a few words to the garbage collector and a quarter of a megabyte
// outside of its sight. Left to it, such memory is counted against the heap until all of the heap
// has been searched, over and over while a file goes through.

const offered = new WeakSet<ArrayBufferLike>()

/**
 * Lets the last user of the chunk give its memory back. It has to be the only view of its buffer.
 */
export function offerMemory<Chunk extends Uint8Array>(chunk: Chunk): Chunk {
  if (chunk.byteLength === chunk.buffer.byteLength) offered.add(chunk.buffer)
  return chunk
}

/** Releases the memory of a chunk and leaves it empty. Other chunks are not affected. */
export function freeMemory({ buffer }: Uint8Array): void {
  if (offered.delete(buffer) && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
