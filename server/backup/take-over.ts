import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { keepTimelines } from "#db/embedded/wal-archive.ts"
import { identify, ownIdentityFile, writeOwner, type Identity } from "#db/installation.ts"
import type { Config } from "#server/config.ts"
import type { Bucket } from "#server/ports/bucket.ts"
import { alone } from "./folder-lock.ts"
import { ownedBucket, ownedFolder, takeOverPlace, type OwnedPlace } from "./owner.ts"

type Settings = Pick<Config, "backups" | "backupBucket" | "database" | "history">

/**
 * Continues the backups and the history of the settings as those of the database at `url`, and
 * no longer as those of another. Returns the places that were another's.
 */
export async function takeOver(
  settings: Settings,
  url: string,
  openBucket: () => Promise<Bucket>,
): Promise<string[]> {
  const own = await identifyMigrated(url)
  const taken: string[] = []
  for (const place of await placesOf(settings, openBucket))
    if (await takeOverPlace(place, own)) taken.push(place.at)
  const { database, history } = settings
  if (history && database.kind === "embedded") {
    writeOwner(ownIdentityFile(database.directory), own)
    await keepTimelines(history.directory, join(database.directory, "data"))
  }
  return taken
}

/** The same for one folder of backups. */
export async function takeOverFolder(directory: string, url: string): Promise<void> {
  const own = await identifyMigrated(url)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await alone(directory, () => takeOverPlace(ownedFolder(directory), own))
}

/** Where a process with these settings writes backups and a history. */
export async function placesOf(
  { backups, backupBucket, history }: Settings,
  openBucket: () => Promise<Bucket>,
): Promise<OwnedPlace[]> {
  const folders = [backups?.directory ?? (history && dirname(history.directory)), history?.directory]
  return [
    ...folders.filter((folder) => folder != null && existsSync(folder)).map((folder) => ownedFolder(folder!)),
    ...(backupBucket ? [ownedBucket(await openBucket())] : []),
  ]
}

async function identifyMigrated(url: string): Promise<Identity> {
  const own = await identify(url)
  if (own.installation !== null) return own
  throw new Error("The database was not migrated to this version. Start Tideline once, and repeat this.")
}
