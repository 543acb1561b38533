import { resolve } from "node:path"
import { identify, ownIdentityFile, writeOwner } from "#db/installation.ts"
import { ForeignBackups, claimPlace, ownedFolder } from "#server/backup/owner.ts"
import type { Config } from "#server/config.ts"
import type { Log } from "#server/log.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import { copyingRemoved, type Source } from "./blobs.ts"
import { NO_HISTORY, openArchive, refusedHistory, startKeepingHistory, type History } from "./keep-history.ts"
import { followHistory } from "./state.ts"

/** The history of the settings, and the store of files, whose removed bytes it keeps. */
export async function openHistory(
  { config, log, db, blobs }: Source & { config: Pick<Config, "history" | "database">; log: Log },
  url: string,
  openFolder: (path: string) => Promise<Blobs>,
): Promise<{ blobs: Blobs; history: History }> {
  const { history: settings, database } = config
  if (!settings) return { blobs, history: NO_HISTORY }
  if (database.kind === "external") return { blobs, history: followHistory({ log }, settings.state) }
  const own = await identify(url)
  writeOwner(ownIdentityFile(database.directory), own)
  try {
    await claimPlace(ownedFolder(settings.directory), own)
  } catch (error) {
    if (!(error instanceof ForeignBackups)) throw error
    return { blobs, history: refusedHistory({ log }, error) }
  }
  const place = { directory: settings.directory, cluster: resolve(database.directory, "data") }
  const { archive, kept } = await openArchive(place, openFolder)
  const copying = copyingRemoved(blobs, kept)
  const history = startKeepingHistory(
    { db, blobs: copying, log },
    { archive, kept, url, days: settings.days },
  )
  return { blobs: copying, history }
}
