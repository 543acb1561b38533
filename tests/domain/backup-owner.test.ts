import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pino } from "pino"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { identify, ownerFile } from "#db/installation.ts"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { openBucket } from "#server/adapters/blobs/s3/bucket.ts"
import { listBackups } from "#server/backup/folder.ts"
import { ownedBucket, ownedFolder, takeOverPlace } from "#server/backup/owner.ts"
import { placeInBucket } from "#server/backup/place.ts"
import {
  copyChecked,
  findNewest,
  findState,
  startScheduledBackups,
  takeChecked,
  type BackupSettings,
} from "#server/backup/scheduled.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFolder, migrations, openNewPlace, openShelf } from "../support/backups.ts"
import { aFile, openFileDrawer, type FileDrawer } from "../support/file-drawer.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { startS3 } from "../support/s3.ts"
import { withResource } from "../support/with-resource.ts"

const REFUSAL = /has the backups of another database, and nothing was changed there\..*--take-over$/

const s3 = startS3()
const production = withResource(openFileDrawer)
beforeAll(async () => {
  await uploadFile(await production.scopeOf("ada"), aFile("tides.txt", "of production"))
})

describe("a folder of backups", () => {
  it("refuses the backups of another database, and removes none of its own for them", async () => {
    const settings = settingsIn(aFolder())
    await takeChecked(settings, needs(production))
    const before = everythingIn(settings.directory)
    const copy = await aCopy()
    await expect(takeChecked(settings, needs(copy))).rejects.toThrow(REFUSAL)
    const shelf = await openShelf(settings.directory)
    await expect(shelf.take(copy, { keep: { newest: 1 } })).rejects.toThrow(REFUSAL)
    expect(everythingIn(settings.directory)).toEqual(before)
  })

  it("counts for its own database alone", async () => {
    const settings = settingsIn(aFolder())
    await takeChecked(settings, needs(production))
    const now = Date.now()
    expect((await findState(settings, await identify(production.databaseUrl), now)).newest).toBeGreaterThan(0)
    const copy = await aCopy()
    expect((await findState(settings, await identify(copy.databaseUrl), now)).newest).toBe(0)
  })

  it("is refused by the process that was told to write there, which is overdue and says why once", async () => {
    const settings = settingsIn(aFolder())
    await takeChecked(settings, needs(production))
    const before = everythingIn(settings.directory)
    const lines: { level: number; err?: { message: string } }[] = []
    const log = pino({ level: "info" }, { write: (line) => void lines.push(JSON.parse(line)) })
    const backups = startScheduledBackups({ config: { backups: settings }, log }, needs(await aCopy()))
    onTestFinished(backups.stop)
    await expect.poll(() => lines.map(({ err }) => err?.message)).toEqual([expect.stringMatching(REFUSAL)])
    expect([backups.newest(), backups.overdue() > 0]).toEqual([0, true])
    expect(everythingIn(settings.directory)).toEqual(before)
  })

  it("refuses what was restored from it, until that takes it over on purpose", async () => {
    const settings = settingsIn(aFolder())
    await takeChecked(settings, needs(production))
    const [first = ""] = await listBackups(settings.directory)
    const there = await openNewPlace()
    await there.restore(join(settings.directory, first), await openShelf(settings.directory))
    const restored = needs({ databaseUrl: there.url, blobs: there.blobs })
    await expect(takeChecked(settings, restored)).rejects.toThrow(REFUSAL)
    const own = await identify(there.url)
    expect(await takeOverPlace(ownedFolder(settings.directory), own)).toBe(true)
    // Its own first one is still due, whatever the other took.
    expect((await findState(settings, own, Date.now())).newest).toBe(0)
    await takeChecked(settings, restored)
    expect((await findState(settings, own, Date.now())).newest).toBeGreaterThan(0)
    expect(await listBackups(settings.directory)).toHaveLength(1)
    await expect(takeChecked(settings, needs(production))).rejects.toThrow(REFUSAL)
  })

  it("of an earlier version becomes the first one's that writes there, and a damaged note nobody's", async () => {
    const settings = settingsIn(aFolder())
    await takeChecked(settings, needs(production))
    writeFileSync(ownerFile(settings.directory), "{")
    await expect(takeChecked(settings, needs(production))).rejects.toThrow(
      /installation\.json is damaged, so nobody knows whose backups are beside it\./,
    )
    expect(await listBackups(settings.directory)).toHaveLength(1)
  })
})

describe("a bucket of backups", () => {
  it("refuses the backups of another database, and counts for its own alone", async () => {
    await s3.emptyBucket()
    const bucket = await openBucket(s3.settings())
    const settings = settingsIn(aFolder())
    const own = await identify(production.databaseUrl)
    await takeChecked(settings, needs(production))
    const [first] = await copyChecked(settings, needs(production), { bucket, own })
    const copy = await aCopy()
    const others = await identify(copy.databaseUrl)
    const elsewhere = settingsIn(aFolder())
    await takeChecked(elsewhere, needs(copy))
    await expect(copyChecked(elsewhere, needs(copy), { bucket, own: others })).rejects.toThrow(REFUSAL)
    expect(await placeInBucket(bucket).list()).toEqual([first])
    expect(await findNewest(bucket, own)).toBeGreaterThan(0)
    expect(await findNewest(bucket, others)).toBeNull()
    await takeOverPlace(ownedBucket(bucket), others)
    expect(await findNewest(bucket, own)).toBeNull()
  })
})

/** Another database of the same PostgreSQL, as `createdb --template` makes it. */
async function aCopy() {
  const { url, close } = await createTestDatabase()
  onTestFinished(close)
  return { databaseUrl: url, blobs: await openDiskBlobs(aFolder()) }
}

function settingsIn(directory: string): BackupSettings {
  return { schedule: "0 3 * * *", directory, recipients: [], keep: { newest: 1 }, proof: "read" }
}

function needs({ databaseUrl, blobs }: Pick<FileDrawer, "databaseUrl" | "blobs">) {
  return {
    source: { databaseUrl, blobs, version: "0.0.1" },
    migrations,
    openFolder: openDiskBlobs,
    openBucket: null,
  }
}

function everythingIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String).toSorted()
}
