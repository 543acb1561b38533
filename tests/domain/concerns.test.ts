import { pino } from "pino"
import { describe, expect, it, onTestFinished } from "vitest"
import { openLog } from "#server/log.ts"
import {
  judgeBackups,
  remindOfBackups,
  judgeCertificate,
  judgeClock,
  judgeDisk,
  judgeEmails,
  judgeHistory,
  judgeLog,
} from "#server/ops/concerns.ts"
import { startWatchingClock } from "#server/ops/clock.ts"
import { readCertificate, watchCertificate } from "#server/ops/certificate.ts"
import { openTlsServer } from "../support/certificates.ts"

const DAY = 24 * 60 * 60 * 1000
const NOW = Date.UTC(2026, 10, 25)

function said(concerns: ReturnType<typeof judgeDisk>) {
  return concerns.map(({ state, what }) => `${state}: ${what.message}`)
}

describe("an operator", () => {
  it("hears of a disk that fills up, and of one that is full", () => {
    expect(judgeDisk(3e9)).toEqual([])
    expect(said(judgeDisk(1.5e9))).toEqual([
      "warning: 1.5 GB are free where Tideline stores its data. Make space before they are used up.",
    ])
    expect(said(judgeDisk(1e8))[0]).toMatch(/^problem: Only 100 MB are free/)
  })

  it("hears of WAL that nobody reads, and of a missing limit", () => {
    const unread = { slot: "left_over", bytes: 3e9 }
    expect(judgeLog({ bytes: 3e9, unread: { ...unread, bytes: 1e6 }, limit: "4GB" })).toEqual([])
    expect(said(judgeLog({ bytes: 3e9, unread, limit: "4GB" }))[0]).toContain(
      "3 GB of its log for the replication slot left_over",
    )
    expect(said(judgeLog({ bytes: 0, unread: null, limit: null }))[0]).toContain("max_slot_wal_keep_size")
  })

  it("hears of a clock that differs from PostgreSQL's", () => {
    expect([...judgeClock(1500), ...judgeClock(-1500)]).toEqual([])
    expect(said(judgeClock(3_600_000))[0]).toContain("3600 s ahead of PostgreSQL's")
    expect(said(judgeClock(-3000))[0]).toContain("3 s behind PostgreSQL's")
  })

  it("hears of emails that wait or were given up", () => {
    expect(judgeEmails({ queued: 3, parked: 0, oldestSeconds: 60 })).toEqual([])
    expect(said(judgeEmails({ queued: 3, parked: 2, oldestSeconds: 7200 }))).toEqual([
      "warning: 3 emails are waiting, one of them for 120 minutes. Check the mail server and SMTP_URL.",
      expect.stringMatching(/^warning: Emails that were given up: 2\./) as string,
    ])
  })

  it("hears of backups and a history that are behind", () => {
    expect([
      ...judgeBackups({ isOverdue: false, copy: { isMissing: false } }),
      ...judgeHistory({ isBehind: false }),
    ]).toEqual([])
    expect(said(judgeBackups({ isOverdue: true, copy: null }))).toEqual([
      expect.stringContaining("The backup that is due has not been taken"),
    ])
    expect(said(judgeBackups({ isOverdue: false, copy: { isMissing: true } }))).toEqual([
      expect.stringContaining("The newest backup is not in the bucket"),
    ])
    expect(said(remindOfBackups())).toEqual([
      expect.stringMatching(/^notice: No backup is scheduled\./) as string,
    ])
    expect(said(judgeHistory({ isBehind: true }))[0]).toContain("The history is not being kept")
  })

  it("hears of a certificate two weeks before it expires", () => {
    const certificate = { host: "tideline.example.org", refusal: null }
    expect(judgeCertificate({ ...certificate, expiresAt: NOW + 14 * DAY }, NOW)).toEqual([])
    expect(said(judgeCertificate({ ...certificate, expiresAt: NOW + 13.5 * DAY }, NOW))).toEqual([
      "warning: The certificate of tideline.example.org expires in 13 days. Renew it.",
    ])
  })
})

it("the log says once that the clocks differ, and when they agree again", async () => {
  const lines: string[] = []
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) })
  let ahead = 3_600_000
  const db = { execute: () => Promise.resolve([{ now: Date.now() - ahead }]) }
  const scope = { db, log } as unknown as Parameters<typeof startWatchingClock>[0]
  const watching = startWatchingClock(scope, 5)
  await expect.poll(() => lines.join("")).toContain('"secondsAhead":3600')
  ahead = 0
  await expect.poll(() => lines.join("")).toContain("agrees with PostgreSQL's again")
  await watching.stop()
  expect(lines).toHaveLength(2)
})

describe("the certificate of the public URL", () => {
  it("is read with its expiry, and with the reason for which browsers refuse it", async () => {
    const expiresAt = new Date(Date.now() + 30 * DAY)
    const server = await openTlsServer(expiresAt)
    onTestFinished(server.close)
    const certificate = await readCertificate(new URL(server.origin))
    expect(Math.abs(certificate.expiresAt - expiresAt.getTime())).toBeLessThan(1000)
    expect(certificate.refusal).toBe("DEPTH_ZERO_SELF_SIGNED_CERT")
    expect(said(judgeCertificate(certificate, Date.now()))[0]).toMatch(
      /^warning: The certificate of 127\.0\.0\.1:\d+ is refused \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    )
  })

  it("is refused once it has expired", async () => {
    const server = await openTlsServer(new Date(Date.now() - DAY))
    onTestFinished(server.close)
    const { refusal } = await readCertificate(new URL(server.origin))
    expect(refusal).toMatch(/EXPIRED|SELF_SIGNED/)
  })

  it("is not known without HTTPS, or if nobody answers", async () => {
    const log = openLog("silent")
    expect(watchCertificate({ config: { origin: "http://localhost:3000" }, log }).current()).toBeNull()
    const server = await openTlsServer(new Date(Date.now() + DAY))
    server.close()
    await expect(readCertificate(new URL(server.origin))).rejects.toThrow(/ECONNREFUSED/)
    const watched = watchCertificate({ config: { origin: server.origin }, log })
    await watched.stop()
    expect(watched.current()).toBeNull()
  })
})
