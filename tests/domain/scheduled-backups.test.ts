import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pino } from "pino"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { identify } from "#db/installation.ts"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { findChecked, timeIn } from "#server/backup/check.ts"
import { listBackups } from "#server/backup/folder.ts"
import type { Keep } from "#server/backup-settings.ts"
import { chooseKept } from "#server/backup/keep.ts"
import {
  findState,
  startScheduledBackups,
  takeChecked,
  type BackupSettings,
} from "#server/backup/scheduled.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFolder, migrations } from "../support/backups.ts"
import { aFile, openFileDrawer } from "../support/file-drawer.ts"
import { withResource } from "../support/with-resource.ts"

const DAY = 24 * 60 * 60 * 1000

const drawer = withResource(openFileDrawer)
let sql: postgres.Sql
beforeAll(async () => {
  sql = postgres(drawer.databaseUrl, { max: 1, onnotice: () => {} })
  await uploadFile(await drawer.scopeOf("ada"), aFile("tides.txt"))
})
afterAll(() => sql.end())

describe("the backups that are kept", () => {
  it.each<[string, Keep, string[]]>([
    ["the newest three", { newest: 3 }, ["2026-11-22", "2026-11-23", "2026-11-24"]],
    ["those of two days", { days: 2, weeks: 0, months: 0 }, ["2026-11-23", "2026-11-24"]],
    [
      "those of two weeks, which begin on Monday",
      { days: 0, weeks: 2, months: 0 },
      ["2026-11-22", "2026-11-24"],
    ],
    [
      "those of a day, two weeks and three months",
      { days: 1, weeks: 2, months: 3 },
      ["2026-09-30", "2026-10-31", "2026-11-22", "2026-11-24"],
    ],
  ])("are %s", (_what, keep, expected) => {
    const from = Date.parse("2026-09-01T03:00:00Z")
    const daily = Array.from({ length: 85 }, (_, day) => ({ takenAt: from + day * DAY }))
    const kept = chooseKept(daily, keep).map(({ takenAt }) => new Date(takenAt).toISOString().slice(0, 10))
    expect(kept).toEqual(expected)
  })
})

describe("a scheduled backup", () => {
  it("is due at the schedule's last time, until one taken since was checked", async () => {
    const settings = settingsFor(aFolder(), { proof: "read" })
    const now = Date.parse("2026-11-24T10:00:00Z")
    const own = await identify(drawer.databaseUrl)
    expect(await findState(settings, own, now)).toEqual({
      due: Date.parse("2026-11-24T03:00:00Z"),
      newest: 0,
    })
    expect((await findState(settings, own, Date.parse("2026-11-24T03:00:00Z"))).due).toBe(
      Date.parse("2026-11-24T03:00:00Z"),
    )
    expect((await findState(settings, own, Date.parse("2026-11-24T02:59:59Z"))).due).toBe(
      Date.parse("2026-11-23T03:00:00Z"),
    )
    await takeChecked(settings, needs())
    const { due, newest } = await findState(settings, own, Date.now())
    expect(newest).toBeGreaterThanOrEqual(due)
  })

  it("is restored into a database of its own, which is removed, before older ones are", async () => {
    const settings = settingsFor(aFolder(), { keep: { newest: 1 } })
    await takeChecked({ ...settings, proof: "read" }, needs())
    const [first] = await listBackups(settings.directory)
    expect(await takeChecked(settings, needs())).toBe("restored")
    const left = await listBackups(settings.directory)
    expect(left).toHaveLength(1)
    expect(left).not.toContain(first)
    expect(await findChecked(settings.directory)).toEqual({
      name: left[0],
      takenAt: timeIn(left[0] ?? ""),
      proof: "restored",
    })
    expect(await scratchDatabases()).toEqual([])
  })

  it("removes no older one if it cannot be restored, and is not kept itself", async () => {
    const settings = settingsFor(aFolder(), { keep: { newest: 1 } })
    await takeChecked({ ...settings, proof: "read" }, needs())
    const [first = ""] = await listBackups(settings.directory)
    // A folder of migrations in which the database's own is missing.
    const unknown = aFolder()
    mkdirSync(join(unknown, "meta"))
    writeFileSync(
      join(unknown, "meta/_journal.json"),
      JSON.stringify({ version: "7", dialect: "postgresql", entries: [] }),
    )
    await expect(takeChecked(settings, { ...needs(), migrations: unknown })).rejects.toThrow()
    expect(await listBackups(settings.directory)).toEqual([first])
    expect((await findChecked(settings.directory))?.name).toBe(first)
    expect(await scratchDatabases()).toEqual([])
  })

  it("is read and compared by a role that may not create databases", async () => {
    const role = `reader_${Date.now()}`
    const { pathname } = new URL(drawer.databaseUrl)
    await sql.unsafe(`create role ${role} login password 'secret' in role pg_read_all_data`)
    onTestFinished(async () => {
      await sql.unsafe(`drop owned by ${role}; drop role ${role}`)
    })
    const limited = new URL(drawer.databaseUrl)
    Object.assign(limited, { username: role, password: "secret", pathname })
    const source = { ...needs().source, databaseUrl: limited.href }
    const settings = settingsFor(aFolder())
    expect(await takeChecked(settings, { ...needs(), source })).toBe("read")
    expect(await findChecked(settings.directory)).toMatchObject({ proof: "read" })
  })

  it("is taken once by processes that share a folder, and by one that starts later only when it is due", async () => {
    const settings = settingsFor(aFolder(), { proof: "read" })
    const lines: { msg: string }[] = []
    const log = pino({ level: "info" }, { write: (line) => void lines.push(JSON.parse(line)) })
    const start = (more = {}) =>
      startScheduledBackups({ config: { backups: settings }, log }, { ...needs(), ...more })
    const processes = [start(), start()]
    await expect
      .poll(async () => (await findChecked(settings.directory))?.proof, { timeout: 30_000 })
      .toBe("read")
    await expect.poll(() => processes.some((each) => each.newest() > 0 && each.overdue() === 0)).toBe(true)
    // A backup begins with its folder, in the same turn in which the process learns of the newest.
    const begun: string[] = []
    const third = start({
      openFolder: (folder: string) => {
        begun.push(folder)
        return openDiskBlobs(folder)
      },
    })
    await expect.poll(() => third.newest()).toBeGreaterThan(0)
    expect(third.overdue()).toBe(0)
    expect(begun).toEqual([])
    for (const each of [...processes, third]) await each.stop()
    expect(await listBackups(settings.directory)).toHaveLength(1)
    expect(lines.map(({ msg }) => msg)).toEqual(["took and checked a scheduled backup"])
  })

  it("that fails is overdue, logged once, and leaves nothing that looks like a backup", async () => {
    const settings = settingsFor(join(aFolder(), "file"))
    writeFileSync(settings.directory, "not a folder")
    const lines: { msg: string }[] = []
    const log = pino({ level: "info" }, { write: (line) => void lines.push(JSON.parse(line)) })
    const backups = startScheduledBackups({ config: { backups: settings }, log }, needs())
    await expect.poll(() => lines.map(({ msg }) => msg)).toEqual(["could not take the scheduled backup"])
    await backups.stop()
    renameSync(settings.directory, `${settings.directory}.txt`)
    expect(readdirSync(join(settings.directory, ".."))).toEqual(["file.txt"])
  })
})

function settingsFor(directory: string, more: Partial<BackupSettings> = {}): BackupSettings {
  return { schedule: "0 3 * * *", directory, recipients: [], keep: { newest: 5 }, proof: "restored", ...more }
}

function needs() {
  const { databaseUrl, blobs } = drawer
  return {
    source: { databaseUrl, blobs, version: "0.0.1" },
    migrations,
    openFolder: openDiskBlobs,
    openBucket: null,
  }
}

/** Those of this file's database. */
async function scratchDatabases() {
  return sql`
    select scratch.datname from pg_database scratch, pg_database own
    where own.datname = ${new URL(drawer.databaseUrl).pathname.slice(1)}
      and starts_with(scratch.datname, 'tideline_check_' || own.oid || '_')`
}
