import { identify } from "#db/installation.ts"
import { describeForeign, findForeign } from "#server/backup/owner.ts"
import { placesOf, takeOver } from "#server/backup/take-over.ts"
import type { Config } from "#server/config.ts"
import { openBackupBucket } from "#server/services.ts"

/** Continues the backups and the history of the settings as those of this database, and says so. */
export async function takeOverSettings(config: Config, url: string): Promise<void> {
  const taken = await takeOver(config, url, () => openBackupBucket(config))
  process.stdout.write(
    taken.length === 0
      ? "Nothing in the settings was another database's.\n"
      : `${taken.join(" and ")} ${taken.length === 1 ? "continues" : "continue"} as this database's. Restart Tideline if it runs.\n`,
  )
}

/** Names the places in the settings in which a restored database is refused until it takes them over. */
export async function sayWhatIsForeign(config: Config, url: string): Promise<void> {
  const own = await identify(url)
  const places = await placesOf(config, () => openBackupBucket(config))
  for (const { at } of await findForeign(places, own)) process.stdout.write(`${describeForeign(at)}\n`)
}
