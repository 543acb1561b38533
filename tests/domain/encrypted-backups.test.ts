import { createHash, randomBytes } from "node:crypto"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { Readable } from "node:stream"
import { generateX25519Identity, identityToRecipient } from "age-encryption"
import { sql } from "drizzle-orm"
import { pino } from "pino"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { identify } from "#db/installation.ts"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { openBucket } from "#server/adapters/blobs/s3/bucket.ts"
import { storeFor, verifyEncrypted } from "#server/backup/encryption.ts"
import { listBackups } from "#server/backup/folder.ts"
import { openBackup, openStored, placeInBucket, placeInFolder } from "#server/backup/place.ts"
import {
  copyChecked,
  startScheduledBackups,
  takeChecked,
  type BackupSettings,
} from "#server/backup/scheduled.ts"
import { emptyTrash, trashFile } from "#server/files/trash.ts"
import { uploadFile } from "#server/files/upload.ts"
import type { Bucket } from "#server/ports/bucket.ts"
import { sample } from "../support/all.ts"
import { aFolder, digestsOf, keysOf, migrations, openNewPlace } from "../support/backups.ts"
import { aFile, openFileDrawer, type FileDrawer } from "../support/file-drawer.ts"
import { startS3 } from "../support/s3.ts"
import { withResource } from "../support/with-resource.ts"

const s3 = startS3()
const drawer = withResource(openFileDrawer)
let ada: Awaited<ReturnType<FileDrawer["scopeOf"]>>
let identity: string
let recipients: string[]
beforeAll(async () => {
  ada = await drawer.scopeOf("ada")
  identity = await generateX25519Identity()
  recipients = [await identityToRecipient(identity)]
})

describe("an encrypted backup", () => {
  it("is checked by restoring it, with no key on the machine, and restored with the key", async () => {
    await uploadFile(ada, aFile("tides.txt", "Low water is at five."))
    await uploadFile(ada, aFile("large.bin", randomBytes(200_000)))
    const settings = settingsFor(aFolder())
    expect(await takeChecked(settings, needs())).toBe("restored")
    const [name = ""] = await listBackups(settings.directory)
    const place = placeInFolder(settings.directory, openDiskBlobs)
    const there = await openNewPlace()
    await there.restoreStored(await openBackup(place, name, [identity]))
    expect(await digestsOf(there.db)).toEqual(await digestsOf(drawer.db))
    expect(await bytesIn(there.directory)).toEqual(await bytesIn(drawer.directory))
  })

  it("shows no name, no row and no bytes of a file to somebody without the key", async () => {
    await uploadFile(ada, aFile("secret plan.txt", "Meet at the old lighthouse."))
    const directory = aFolder()
    await takeChecked(settingsFor(directory), needs())
    const everything = filesIn(directory)
      .map((path) => `${path}\n${readFileSync(path, "latin1")}`)
      .join("\n")
    for (const told of ["secret plan", "lighthouse", "ada@example.org", '"rows"'])
      expect(everything).not.toContain(told)
    // Tables are compressed before they are encrypted, so also what no text shows.
    expect(
      filesIn(directory)
        .filter((path) => /\.(tsv|gz|json)$/.test(path))
        .map((path) => basename(path))
        .toSorted(),
    ).toEqual(["blobs.tsv", "checked.json", "encrypted.json", "installation.json"])
  })

  it("is refused without the key or with another one, and nothing is changed", async () => {
    const directory = aFolder()
    await takeChecked(settingsFor(directory, { proof: "read" }), needs())
    const [name = ""] = await listBackups(directory)
    const place = placeInFolder(directory, openDiskBlobs)
    await expect(openBackup(place, name, [])).rejects.toThrow(/ is encrypted for age1.*--identity <file>/)
    await expect(openBackup(place, name, [await generateX25519Identity()])).rejects.toThrow(
      /The key in the file of --identity is another one\. Nothing was changed\.$/,
    )
  })

  it("encrypts bytes of files once, and again for another recipient or if the disk lost them", async () => {
    const directory = aFolder()
    const take = async (more: Partial<BackupSettings> = {}) =>
      takeChecked(settingsFor(directory, { proof: "read", keep: { newest: 1 }, ...more }), needs())
    const store = () => openDiskBlobs(join(directory, storeFor(recipients)))
    await take()
    const [key = ""] = await keysOf(await store())
    const before = readFileSync(join(directory, storeFor(recipients), key))
    await take()
    expect(readFileSync(join(directory, storeFor(recipients), key)).equals(before)).toBe(true)
    writeFileSync(join(directory, storeFor(recipients), key), "damaged")
    await take()
    expect(readFileSync(join(directory, storeFor(recipients), key)).length).toBe(before.length)
    const others = [await identityToRecipient(await generateX25519Identity())]
    await take({ recipients: others })
    expect(await keysOf(await store())).toEqual([])
    expect(await keysOf(await openDiskBlobs(join(directory, storeFor(others))))).toContain(key)
  })

  it("can be compared without the key, and says what is damaged", async () => {
    const directory = aFolder()
    await takeChecked(settingsFor(directory, { proof: "read" }), needs())
    const [name = ""] = await listBackups(directory)
    const { stored, encryption } = await openStored(placeInFolder(directory, openDiskBlobs), name)
    if (!encryption) throw new Error("It is not encrypted.")
    await verifyEncrypted(stored, encryption)
    const [key = ""] = await keysOf(await openDiskBlobs(join(directory, storeFor(recipients))))
    writeFileSync(join(directory, storeFor(recipients), key), "damaged")
    rmSync(join(directory, name, "manifest.json.age"))
    await expect(verifyEncrypted(stored, encryption)).rejects.toThrow(
      new RegExp(`manifest\\.json\\.age is missing or damaged[^]*blobs/${key} is missing or damaged`),
    )
  })
})

describe("a copy in a bucket", () => {
  it.each(sample(["encrypted", "plain"], 2))("is restored from the bucket itself: %s", async (how) => {
    const bucket = await anEmptyBucket()
    await drawer.db.execute(sql`
      insert into waitlist (email) select md5(n::text) || md5(n::text || 'x') || '@example.org' from generate_series(1, 5000) n`)
    onTestFinished(async () => void (await drawer.db.execute(sql`delete from waitlist`)))
    await uploadFile(ada, aFile("larger than a part.bin", randomBytes(17_000_000)))
    const settings = settingsFor(aFolder(), how === "plain" ? { recipients: [] } : {})
    await takeChecked(settings, needs())
    const [name = ""] = await copyChecked(settings, needs(), { bucket, own: await ownIdentity() })
    rmSync(settings.directory, { recursive: true })
    const there = await openNewPlace()
    await there.restoreStored(
      await openBackup(placeInBucket(bucket), name, how === "plain" ? [] : [identity]),
    )
    expect(await digestsOf(there.db)).toEqual(await digestsOf(drawer.db))
    expect(await bytesIn(there.directory)).toEqual(await bytesIn(drawer.directory))
  })

  it("is of checked backups only, keeps as many, and removes bytes that only older ones had", async () => {
    const bucket = await anEmptyBucket()
    const gone = await uploadFile(ada, aFile("gone.txt", "for a day"))
    const settings = settingsFor(aFolder(), { proof: "read", keep: { newest: 2 } })
    const copy = async () => copyChecked(settings, needs(), { bucket, own: await ownIdentity() })
    const place = placeInBucket(bucket)
    await takeChecked(settings, needs())
    const [first] = await copy()
    const withGone = (await objectsOf(bucket)).length
    await trashFile(ada, gone._id)
    await emptyTrash(ada)
    await takeChecked(settings, needs())
    rmSync(join(settings.directory, (await listBackups(settings.directory)).at(-1) ?? "", "checked.json"))
    expect(await copy()).toEqual([])
    expect(await place.list()).toEqual([first])
    await takeChecked(settings, needs())
    const [second] = await copy()
    expect(await place.list()).toEqual([first, second])
    await takeChecked(settings, needs())
    const [third] = await copy()
    expect(await place.list()).toEqual([second, third])
    // One blob fewer for each of two backups that have as many files.
    const names = (await objectsOf(bucket)).map((object) => object.split("/")[0])
    expect(names.filter((each) => each === storeFor(recipients))).toHaveLength(
      (await keysOf(await openDiskBlobs(join(settings.directory, storeFor(recipients))))).length,
    )
    expect(withGone).toBeGreaterThan(0)
  })

  it("that was interrupted is not one, and the next continues without what it left", async () => {
    const bucket = await anEmptyBucket()
    const settings = settingsFor(aFolder(), { proof: "read" })
    await takeChecked(settings, needs())
    let uploads = 0
    const failing: Bucket = {
      ...bucket,
      async upload(name, bytes) {
        if (++uploads > 12) throw new Error("The network is gone.")
        await bucket.upload(name, bytes)
      },
    }
    await expect(
      copyChecked(settings, needs(), { bucket: failing, own: await ownIdentity() }),
    ).rejects.toThrow("The network is gone.")
    expect(await placeInBucket(bucket).list()).toEqual([])
    const left = await objectsOf(bucket)
    expect(left.length).toBeGreaterThan(0)
    await bucket.upload(
      "2020-01-01T00-00-00-000Z/tables/old.tsv.gz",
      Readable.from([Buffer.from("left over")]),
    )
    const [name = ""] = await copyChecked(settings, needs(), { bucket, own: await ownIdentity() })
    expect(await placeInBucket(bucket).list()).toEqual([name])
    expect((await objectsOf(bucket)).filter((object) => object.startsWith("2020-"))).toEqual([])
    await openBackup(placeInBucket(bucket), name, [identity])
  })

  it("follows each scheduled backup, and says for how long one is missing there", async () => {
    const bucket = await anEmptyBucket()
    const settings = settingsFor(aFolder(), { proof: "read" })
    const lines: { msg: string }[] = []
    const log = pino({ level: "info" }, { write: (line) => void lines.push(JSON.parse(line)) })
    const start = (openIt: () => Promise<Bucket>) =>
      startScheduledBackups({ config: { backups: settings }, log }, { ...needs(), openBucket: openIt })
    const without = start(() => Promise.reject(new Error("The bucket cannot be used.")))
    await expect
      .poll(() => lines.map(({ msg }) => msg), { timeout: 30_000 })
      .toEqual(["took and checked a scheduled backup", "could not copy the backup to the bucket"])
    expect(without.copyOverdue()).toBeGreaterThan(0)
    expect(without.overdue()).toBe(0)
    await without.stop()
    const withIt = start(async () => bucket)
    await expect
      .poll(() => lines.map(({ msg }) => msg).at(-1), { timeout: 30_000 })
      .toBe("copied backups to the bucket")
    expect(withIt.newestCopy()).toBe(withIt.newest())
    expect(withIt.copyOverdue()).toBe(0)
    await withIt.stop()
  })
})

function ownIdentity() {
  return identify(drawer.databaseUrl)
}

function settingsFor(directory: string, more: Partial<BackupSettings> = {}): BackupSettings {
  return { schedule: "0 3 * * *", directory, recipients, keep: { newest: 5 }, proof: "restored", ...more }
}

function needs() {
  const { databaseUrl, blobs } = drawer
  return { source: { databaseUrl, blobs, version: "0.0.1" }, migrations, openFolder: openDiskBlobs }
}

async function anEmptyBucket(): Promise<Bucket> {
  await s3.emptyBucket()
  return openBucket(s3.settings())
}

async function objectsOf(bucket: Bucket): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of bucket.list("")) names.push(name)
  return names
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** The digests of a store's files, sorted. */
async function bytesIn(directory: string): Promise<string[]> {
  return filesIn(directory)
    .map((path) => createHash("sha256").update(readFileSync(path)).digest("hex"))
    .toSorted()
}
