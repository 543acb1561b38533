import { TooLarge } from "#server/errors.ts"

/** The bytes as they arrive. Throws `TooLarge` if there are more than `limit`. */
export async function* within(limit: number, bytes: AsyncIterable<Uint8Array>) {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.byteLength
    if (size > limit) throw new TooLarge("bytes-over-limit", { limit })
    yield chunk
  }
}
