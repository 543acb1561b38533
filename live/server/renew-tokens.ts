import type { Hub } from "./hub.ts"
import { lsnToWire } from "./lsn.ts"
import { sealResumeToken } from "./resume-token.ts"
import { renderSnapshot } from "./snapshot-event.ts"

/**
 * Gives every subscription a token of the current epoch, as a snapshot without changes. With a token
 * of the epoch before, positions beyond the failover would be taken for those of commits that it
 * took back.
 */
export function renewTokens(hub: Hub, secret: string): void {
  const [epoch, position] = [hub.epoch(), hub.position()]
  for (const client of hub.clients) {
    const parts = [...client.subscriptions.values()].map(({ id, range, asked }) => {
      const point = { epoch, lsn: position, through: position, end: range.end }
      const token = sealResumeToken(secret, client.userId, asked, point)
      return { id, kind: "changes" as const, changes: [], token }
    })
    if (parts.length === 0) continue
    client.coalesce()
    for (const text of renderSnapshot({ epoch, lsn: lsnToWire(position) }, parts))
      client.outbox.snapshot(text, position)
  }
}
