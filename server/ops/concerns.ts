import type { LearnedLimits } from "#server/chat/model-abilities.ts"
import { dataOfReason } from "#server/errors.ts"
import type { RefusalData } from "#server/refusal-contract.ts"
import type { Certificate } from "./certificate.ts"
import { CLOCK_TOLERANCE } from "./clock.ts"
import { LITTLE_SPACE, NO_SPACE } from "./disk.ts"
import type { KeptLog } from "./kept-log.ts"
import { LONG_WAIT } from "./queued.ts"

/** Something that an operator should do, as `/admin` and `npm run doctor` say it. */
export interface Concern {
  /** A `problem` prevents Tideline from working; a `warning` will, or makes it less secure. */
  state: "notice" | "warning" | "problem"
  what: RefusalData
  /** The part of the documentation that says how. */
  docs: string
}

/** Bytes of WAL retained by a slot without a reader, above which operators are warned. */
const MUCH_LOG = 1e9

const DAY = 24 * 60 * 60 * 1000

/** Certificates that renew themselves do so a month before they expire. */
const CERTIFICATE_DAYS = 14

export function judgeDisk(free: number): Concern[] {
  const values = { free: { bytes: free } }
  const docs = "/docs/operations#when-the-disk-is-full"
  if (free < NO_SPACE) return [{ state: "problem", what: dataOfReason("disk-space-gone", values), docs }]
  if (free < LITTLE_SPACE) return [{ state: "warning", what: dataOfReason("disk-space-short", values), docs }]
  return []
}

/** `problem` is why the store refuses to be written to, as `tryStore` says it. */
export function judgeStore(problem: string | null): Concern[] {
  if (problem === null) return []
  const what = dataOfReason("file-store-read-only", { problem })
  return [{ state: "problem", what, docs: "/docs/operations#when-files-cannot-be-stored" }]
}

/** `listed` are the first of `count` damaged blobs. */
export function judgeBytes({
  listed,
  count,
}: {
  listed: readonly { key: string }[]
  count: number
}): Concern[] {
  const [first] = listed
  if (!first) return []
  const what = dataOfReason("file-bytes-lost", { count, key: first.key })
  return [{ state: "problem", what, docs: "/docs/backup#only-the-bytes-of-files" }]
}

export function judgeLog({ unread, limit }: KeptLog): Concern[] {
  const docs = "/docs/self-hosting#postgresql"
  if (unread && unread.bytes > MUCH_LOG) {
    const what = dataOfReason("log-kept", { slot: unread.slot, kept: { bytes: unread.bytes } })
    return [{ state: "warning", what, docs }]
  }
  return limit === null ? [{ state: "warning", what: dataOfReason("log-unlimited"), docs }] : []
}

/** `ahead` is in milliseconds, as `measureClock` returns it. */
export function judgeClock(ahead: number): Concern[] {
  if (Math.abs(ahead) <= CLOCK_TOLERANCE) return []
  const seconds = Math.round(Math.abs(ahead) / 1000)
  const what = dataOfReason(ahead > 0 ? "clock-ahead" : "clock-behind", { seconds })
  return [{ state: "warning", what, docs: "/docs/operations#when-clocks-differ" }]
}

/** What the model server has stated since this process started, and the setting it contradicts. */
export function judgeModel({ withoutTools, context }: LearnedLimits, setting: number): Concern[] {
  const docs = "/docs/self-hosting#what-the-model-receives"
  const tools = dataOfReason("model-without-tools")
  const smaller = dataOfReason("model-context-smaller", { tokens: context ?? 0, setting })
  return [
    ...(withoutTools ? [{ state: "notice", what: tools, docs } as const] : []),
    ...(context === null ? [] : [{ state: "notice", what: smaller, docs } as const]),
  ]
}

export function judgeCertificate({ host, expiresAt, refusal }: Certificate, now: number): Concern[] {
  const docs = "/docs/self-hosting#the-proxy"
  if (refusal !== null)
    return [{ state: "warning", what: dataOfReason("certificate-refused", { host, code: refusal }), docs }]
  const days = Math.floor((expiresAt - now) / DAY)
  if (days >= CERTIFICATE_DAYS) return []
  return [{ state: "warning", what: dataOfReason("certificate-expires", { host, days }), docs }]
}

export function judgeEmails(emails: { queued: number; parked: number; oldestSeconds: number }): Concern[] {
  const docs = "/docs/self-hosting#mail"
  const minutes = Math.round(emails.oldestSeconds / 60)
  const waiting = dataOfReason("emails-waiting", { count: emails.queued, minutes })
  const parked = dataOfReason("emails-parked", { count: emails.parked })
  return [
    ...(emails.oldestSeconds > LONG_WAIT ? [{ state: "warning", what: waiting, docs } as const] : []),
    ...(emails.parked > 0 ? [{ state: "warning", what: parked, docs } as const] : []),
  ]
}

/** Of an installation that takes neither backups nor keeps a history, and names nobody who does. */
export function remindOfBackups(): Concern[] {
  return [{ state: "notice", what: dataOfReason("backup-none"), docs: "/docs/backup#on-a-schedule" }]
}

export function judgeBackups({
  isOverdue,
  copy,
}: {
  isOverdue: boolean
  copy: { isMissing: boolean } | null
}): Concern[] {
  const overdue = dataOfReason("backup-overdue")
  const missing = dataOfReason("backup-not-copied")
  return [
    ...(isOverdue ? [{ state: "warning", what: overdue, docs: "/docs/backup#on-a-schedule" } as const] : []),
    ...(copy?.isMissing
      ? [{ state: "warning", what: missing, docs: "/docs/backup#off-site-copies" } as const]
      : []),
  ]
}

export function judgeHistory({ isBehind }: { isBehind: boolean }): Concern[] {
  const docs = "/docs/backup#any-moment"
  return isBehind ? [{ state: "warning", what: dataOfReason("history-behind"), docs }] : []
}
