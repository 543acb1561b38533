import { readFile } from "node:fs/promises"
import { basename, dirname, resolve } from "node:path"
import { isBackupName } from "#server/backup/folder.ts"
import { placeInBucket, placeInFolder, type Place } from "#server/backup/place.ts"
import { openBackupBucket, openBlobFolder } from "#server/services.ts"
import { previewSettings } from "./database.ts"

/**
 * The backup that a path or URL names; otherwise the newest one in it. `root` is the folder with
 * package.json.
 */
export async function findBackup(root: string, from: string) {
  const path = from.replace(/\/+$/, "")
  const isNamed = isBackupName(basename(path))
  const place = from.startsWith("s3:")
    ? placeInBucket(
        await openBackupBucket(previewSettings(root, { BACKUP_URL: isNamed ? dirname(path) : path })),
      )
    : placeInFolder(resolve(isNamed ? dirname(path) : from), openBlobFolder)
  return { place, name: isNamed ? basename(path) : await newestIn(place) }
}

async function newestIn(place: Place): Promise<string> {
  const newest = (await place.list()).at(-1)
  if (newest === undefined) throw new Error(`There is no backup in ${place.at}.`)
  return newest
}

/** The keys in a file of age, which has one on a line and comments. None without a file. */
export async function readIdentities(path: string | undefined): Promise<string[]> {
  if (path === undefined) return []
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new Error(`The file of --identity cannot be read: ${error.message}`)
  })
  const keys = text.split("\n").filter((line) => line.startsWith("AGE-SECRET-KEY-"))
  if (keys.length > 0) return keys.map((key) => key.trim())
  throw new Error(
    `${path} has no key. The file is one that npm run backup-key or age-keygen wrote, without a passphrase.`,
  )
}
