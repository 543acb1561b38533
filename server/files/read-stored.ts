import { createHash } from "node:crypto"
import { pipeline, Transform, type Readable, type TransformCallback } from "node:stream"
import { Unavailable } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import type { ByteRange } from "#server/transport/conditional.ts"
import { isUnreadable } from "#server/backup/digest.ts"
import { reportDamage, type Damage } from "./damage.ts"

/** What a row says of bytes in the store. */
export interface Stored {
  fileName: string
  key: string
  /** Of all bytes. */
  size: number
  /** Hex. */
  sha256: string
}

/**
 * The bytes of a file or a range of them, as its row describes them: if the store has fewer, more,
 * other or none, that is recorded, and this or the stream ends with `Unavailable`. The last chunk of a
 * whole file is only read once its checksum is known to be right. Destroy a stream that you do not
 * read. With `tolerate`, damage that shows only while the bytes are read does not end the stream: it
 * has what the store has, and `tolerate` is called.
 */
export async function readStored(
  scope: Scope<"blobs" | "db" | "log">,
  stored: Stored,
  range: ByteRange = { start: 0, end: stored.size - 1 },
  tolerate?: () => void,
): Promise<Readable> {
  const { key, size, sha256, fileName } = stored
  const isWhole = range.start === 0 && range.end >= size - 1
  const report = async (damage: Damage) => {
    await reportDamage(scope, key, damage)
    return new Unavailable(damage === "missing" ? "file-bytes-missing" : "file-bytes-damaged", { fileName })
  }
  const whenUnreadable = async (error: unknown): Promise<never> => {
    throw isUnreadable(error) ? await report("unreadable") : error
  }
  const found = await scope.blobs.storedSize(key).catch(whenUnreadable)
  if (found === null) throw await report("missing")
  if (found !== size) throw await report(found < size ? "shorter" : "longer")
  const bytes = await scope.blobs.open(key, isWhole ? undefined : range).catch(whenUnreadable)
  if (bytes === null) throw await report("missing")
  const expected = { size: Math.min(range.end, size - 1) - range.start + 1, sha256: isWhole ? sha256 : null }
  const whenDamaged = async (damage: Damage) => {
    const refusal = await report(damage)
    if (!tolerate) return refusal
    tolerate()
    return null
  }
  // Errors of the store reach the reader through the stream that this returns.
  return pipeline(bytes, comparing(expected, whenDamaged), (error) => {
    if (isUnreadable(error)) void reportDamage(scope, key, "unreadable")
  })
}

/** Passes bytes on for as long as they can be the expected ones, or `report` returns no error. */
function comparing(
  expected: { size: number; sha256: string | null },
  report: (damage: Damage) => Promise<Error | null>,
): Transform {
  const hash = expected.sha256 === null ? null : createHash("sha256")
  let left = expected.size
  let isReported = false
  const fail = (damage: Damage, done: TransformCallback, chunk?: Uint8Array) => {
    isReported = true
    report(damage).then((error) => done(error, chunk), done)
  }
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      if (isReported) return done(null, chunk)
      left -= chunk.byteLength
      if (left < 0) return fail("longer", done, chunk)
      hash?.update(chunk)
      if (left === 0 && hash && hash.digest("hex") !== expected.sha256) return fail("changed", done, chunk)
      done(null, chunk)
    },
    flush(done) {
      if (left > 0) return fail("shorter", done)
      done()
    },
  })
}
