import { readdir } from "node:fs/promises"
import { join, relative } from "node:path"
import type { Bucket } from "#server/ports/bucket.ts"
import { eachOf, readBlobList } from "./blob-list.ts"
import { storeFor } from "./encryption.ts"
import { isBackupName } from "./folder.ts"
import type { Keep } from "#server/backup-settings.ts"
import { BACKUPS, MARKS, openStored, placeInBucket, type Place } from "./place.ts"
import { pruneBackups } from "./prune.ts"
import { readFrom } from "./stored-backup.ts"

/**
 * Copies backups of a folder into a bucket, as they are, and then removes from the bucket what
 * `keep` does not ask for. Bytes of files that the bucket has already are not copied again. A
 * backup in the bucket is complete once its manifest is there. Nobody else may be writing to the
 * folder or the bucket.
 */
export async function copyToBucket(
  folder: Place,
  names: readonly string[],
  { bucket, keep }: { bucket: Bucket; keep: Keep },
): Promise<void> {
  await removeIncomplete(bucket)
  for (const name of names) await copyOne(folder, name, bucket)
  const newest = names.at(-1)
  if (newest !== undefined) await pruneBackups(placeInBucket(bucket), { keep, written: newest })
}

/** What a copy that was interrupted left. Its bytes of files are used by the next one. */
async function removeIncomplete(bucket: Bucket) {
  const complete = new Set(await placeInBucket(bucket).list())
  const left: string[] = []
  for await (const { name } of bucket.list(BACKUPS)) {
    const [backup = ""] = name.split("/", 1)
    if (isBackupName(backup) && !complete.has(backup)) left.push(name)
  }
  await bucket.remove(left)
}

async function copyOne(folder: Place, name: string, bucket: Bucket) {
  const { stored, encryption } = await openStored(folder, name)
  const store = storeFor(encryption?.recipients ?? [])
  const there = new Map<string, number>()
  for await (const blob of bucket.list(`${store}/`)) there.set(blob.name, blob.size)
  await eachOf(readBlobList(stored), async ({ key, size }) => {
    const object = `${store}/${key}`
    if (there.get(object) === size) return
    const bytes = await stored.kept.open(key)
    // Lost before the backup, which says so.
    if (bytes) await bucket.upload(object, bytes as AsyncIterable<Uint8Array>)
  })
  const files = await listFiles(join(folder.at, name))
  const marks = files.filter((file) => MARKS.includes(file))
  for (const file of [...files.filter((each) => !marks.includes(each)), ...marks])
    await bucket.upload(`${name}/${file}`, readFrom(stored, file))
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}
