import { setTimeout as sleep } from "node:timers/promises"
import type postgres from "postgres"
import { expect, onTestFinished, test } from "vitest"
import { openDatabase } from "#db/client.ts"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { readConfig } from "#server/config.ts"
import { checkFiles } from "#server/files/check.ts"
import { sweep } from "#server/files/sweep.ts"
import { openUploadLocks } from "#server/files/upload-locks.ts"
import { announce } from "#server/live.ts"
import { openLog } from "#server/log.ts"
import { startCluster, type Cluster } from "../realtime/support/cluster.ts"
import { seeded } from "../realtime/support/form.ts"
import { startFleet, type Fleet, type Member } from "../support/fleet.ts"
import { signUp, type Person } from "../support/people.ts"
import { openReturningSocket, type ReturningSocket } from "../support/returning-socket.ts"
import { openSmtpReceiver } from "../support/smtp.ts"
import { startTraffic, type Ledger } from "../support/traffic.ts"

/** Set by `npm run soak -- --minutes 10`. */
const LONG = process.env["SOAK_MINUTES"] !== undefined
const MINUTES = Number(process.env["SOAK_MINUTES"] ?? 0.1)
const PEOPLE = 4
const SOCKETS_EACH = 2
const DAY = 24 * 60 * 60 * 1000

const LIMITS = {
  TRUSTED_PROXIES: "1",
  CHAT_RATE_LIMIT: "100000",
  CHAT_TURNS_AT_ONCE: "1000",
}

type Chance = ReturnType<typeof seeded>

test(
  "killing processes and the database at random under a mixed load loses nothing that was acknowledged",
  async () => {
    const chance = seeded("soak")
    const cluster = await startCluster()
    onTestFinished(() => cluster.stop())
    const receiver = await openSmtpReceiver()
    onTestFinished(() => receiver.stop())
    const fleet = await startFleet(cluster.url, { env: { ...LIMITS, SMTP_URL: receiver.url } })
    onTestFinished(() => fleet.stop())
    const people = await Promise.all(
      Array.from({ length: PEOPLE }, (_, n) => signUp(fleet, { name: "Ada", email: `ada-${n}@example.org` })),
    )
    const sockets = await Promise.all(
      people.flatMap((person) =>
        Array.from({ length: SOCKETS_EACH }, () => openReturningSocket(fleet.origin, person)),
      ),
    )
    const traffic = startTraffic(fleet.origin, people, {
      chance,
      deeds: ["talk", "ask", "ask", "store", "send", "look", "join"],
      rest: LONG ? 0 : 50,
    })
    const faults = await killAtRandom(fleet, cluster, chance, Date.now() + MINUTES * 60_000)
    await traffic.stop()
    await fleet.whenReady()
    const { ledger } = traffic
    process.stdout.write(
      `${JSON.stringify({ ...faults, served: traffic.served(), refused: ledger.refused.length })}\n` +
        `${JSON.stringify({ accounts: ledger.accounts.length, answers: ledger.answers.length, files: ledger.files.size })}\n`,
    )

    expect(ledger.wrong).toEqual([])
    await expectReplies(cluster.sql, ledger)
    await expectRecords(cluster.sql, ledger)
    await expectFiles(people, ledger)
    await expectEmails(cluster.sql, ledger, () => receiver.received.map(({ envelope }) => envelope.to.join()))
    for (const socket of sockets) await expectSocket(cluster.sql, socket)
    await expectTidyBlobs(cluster.url, `${fleet.dataDir}/blobs`)
  },
  MINUTES * 60_000 + 240_000,
)

/**
 * Injects one fault after the other, each some time after the previous one is repaired. Resolves
 * with the number of each kind.
 */
async function killAtRandom(fleet: Fleet, cluster: Cluster, chance: Chance, until: number) {
  const faults = { killedProcesses: 0, killedDatabases: 0 }
  const [kill, quit, end] = ["SIGKILL", "SIGQUIT", "SIGINT"] as const
  while (Date.now() < until || faults.killedProcesses === 0 || faults.killedDatabases === 0) {
    await sleep(1000 + chance.below(3000))
    const member = fleet.members[chance.below(fleet.members.length)]
    const what = chance.below(5)
    if (what !== 0) faults.killedProcesses += 1
    if (what < 2) faults.killedDatabases += 1
    await Promise.all([
      what !== 0 && member && killAndStart(member),
      what < 2 && cluster.restart([kill, quit, end][chance.below(3)] ?? kill),
    ])
  }
  return faults
}

/**
 * Restarts it as a supervisor would: until it runs, because it cannot start without its database.
 */
async function killAndStart(member: Member) {
  await member.end("SIGKILL")
  for (;;) {
    try {
      return await member.start()
    } catch {
      await sleep(500)
    }
  }
}

/** Every promised reply is over, and its message has the text of its chunks. */
async function expectReplies(sql: postgres.Sql, ledger: Ledger) {
  const running = () => sql`select _id from chat_turns where status = 'running'`
  await expect.poll(running, { timeout: 60_000 }).toEqual([])
  const stored = await sql`select t._id from chat_turns t join chat_messages m on m._id = t._id`
  expect(missing(ledger.answers, stored)).toEqual([])
  expect(Array.from(await sql`select _id from chat_chunks`)).toEqual([])
}

async function expectRecords(sql: postgres.Sql, ledger: Ledger) {
  const accounts = await sql`select email as _id from auth.user`
  expect(missing(ledger.accounts, accounts)).toEqual([])
  const titles = new Map(
    (await sql`select _id, title from chat_threads`).map((row) => [String(row["_id"]), String(row["title"])]),
  )
  for (const [id, possible] of ledger.titles) expect(possible).toContain(titles.get(id))
}

async function expectFiles(people: readonly Person[], ledger: Ledger) {
  for (const [id, bytes] of ledger.files) {
    const answers = await Promise.all(people.map((owner) => owner(`/api/files/${id}`)))
    const found = answers.find(({ status }) => status === 200)
    expect(found && Buffer.from(await found.arrayBuffer()).equals(bytes), `file ${id}`).toBe(true)
  }
}

/** At least one for each account; a dead process's emails are sent when its lease expires. */
async function expectEmails(sql: postgres.Sql, ledger: Ledger, arrived: () => string[]) {
  const waiting = async () => {
    await sql`update mail_outbox set next_attempt_at = 0, lease_until = null where state = 'queued'`
    return sql`select _id from mail_outbox where state = 'queued'`
  }
  await expect.poll(waiting, { timeout: 60_000, interval: 2000 }).toEqual([])
  expect(
    missing(
      ledger.accounts,
      arrived().map((_id) => ({ _id })),
    ),
  ).toEqual([])
}

/** What a page shows matches what SQL returns. */
async function expectSocket(sql: postgres.Sql, socket: ReturningSocket) {
  const shown = await socket.finish(sql)
  const { email } = socket.person
  const threads = await sql`
    select t._id, title from chat_threads t join users u on u._id = t.user_id
    where email = ${email} order by last_message_at desc, t._id desc`
  const files = await sql`
    select f._id, size::float8 as size from files f join users u on u._id = f.user_id
    where email = ${email} order by f._id desc`
  expect(shown.threads.map(({ _id, title }) => ({ _id, title }))).toEqual(firstOf(threads, shown.threads, 50))
  expect(shown.files.map(({ _id, size }) => ({ _id, size }))).toEqual(firstOf(files, shown.files, 100))
  expect(socket.client.violations).toEqual([])
}

/** The rows shown, by id: all of them or at least a page. */
function firstOf(rows: readonly postgres.Row[], shown: readonly unknown[], page: number) {
  expect(shown.length).toBeGreaterThanOrEqual(Math.min(page, rows.length))
  return rows.slice(0, shown.length).toSorted((one, other) => (one["_id"] < other["_id"] ? -1 : 1))
}

/** Once unfinished uploads have expired, no bytes remain without a file, and none are missing. */
async function expectTidyBlobs(url: string, directory: string) {
  const config = readConfig({
    AUTH_SECRET: "s".repeat(32),
    DATABASE_URL: url,
    BLOBS_URL: `file://${directory}`,
  })
  const log = openLog("silent")
  const { db, close } = openDatabase(url)
  const uploadLocks = openUploadLocks({ announce, db, log, config }, url)
  const scope = { db, log, config, uploadLocks, blobs: await openDiskBlobs(directory) }
  await sweep(scope, Date.now() + 2 * DAY)
  const findings: string[] = []
  for await (const { kind, text } of checkFiles(scope, { checksums: true, now: Date.now() + 2 * DAY }))
    findings.push(`${kind}: ${text}`)
  await uploadLocks.close()
  await close()
  expect(findings).toEqual([])
}

/** The blobs that no row refers to. */
function missing(ids: readonly string[], rows: readonly { _id?: string }[]): string[] {
  const found = new Set(rows.map(({ _id }) => _id))
  return ids.filter((id) => !found.has(id))
}
