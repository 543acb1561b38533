/** Bytes of each file that a dying process sends. */
export const SENT = { size: 150_000, half: 70_000 }

/** The file's bytes from `start` to before `end`: no two places look alike. */
export function bytesOf(start: number, end: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(end - start)
  for (let at = 0; at < bytes.length; at++) bytes[at] = ((start + at) * 2_654_435_761) >>> 24
  return bytes
}
