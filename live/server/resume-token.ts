import { createHmac, timingSafeEqual } from "node:crypto"

import { lsnFromWire, lsnToWire } from "./lsn.ts"
import { readPin, writePin, type Pin, type Range } from "./range.ts"

/**
 * The state of a client's rows: everything up to `lsn`, and perhaps some of what follows, up to
 * `through`.
 */
export interface ResumePoint {
  readonly epoch: string
  readonly lsn: bigint
  readonly through: bigint
  readonly end: Pin | null
}

/**
 * Seals a resume point for one user, query and arguments. The token is opaque to the client and
 * proves nothing but its own origin.
 */
export function sealResumeToken(secret: string, userId: string, range: Range, point: ResumePoint): string {
  const fields = [
    point.epoch,
    lsnToWire(point.lsn),
    lsnToWire(point.through),
    point.end ? Buffer.from(writePin(point.end)).toString("base64url") : "",
  ].join(".")
  return `${fields}.${seal(secret, userId, range, fields)}`
}

/** Null for a token that was issued for another user or query, or by somebody else. */
export function openResumeToken(
  secret: string,
  userId: string,
  range: Range,
  token: string,
): ResumePoint | null {
  const split = token.lastIndexOf(".")
  const fields = token.slice(0, split)
  const expected = Buffer.from(seal(secret, userId, range, fields))
  const given = Buffer.from(token.slice(split + 1))
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return null
  const [epoch = "", lsn = "", through = "", end = ""] = fields.split(".")
  return {
    epoch,
    lsn: lsnFromWire(lsn),
    through: lsnFromWire(through),
    end: end === "" ? null : readPin(Buffer.from(end, "base64url").toString()),
  }
}

function seal(secret: string, userId: string, range: Range, fields: string): string {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["realtime have", userId, range.identity, fields]))
    .digest("base64url")
    .slice(0, 24)
}
