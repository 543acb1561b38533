import { text } from "node:stream/consumers"
import * as v from "valibot"
import { Identity, isSame, ownerFile, parseOwner, readOwner, writeOwner } from "#db/installation.ts"
import type { Bucket } from "#server/ports/bucket.ts"

// A folder, bucket or history of backups notes whose it is. What another database would write there
// is refused: its backups would be taken for those of the owner, and the owner's be removed for them.

const Owner = v.object({ ...Identity.entries, since: v.pipe(v.number(), v.minValue(0)) })

/** `since` is when it became the owner's, in ms since the epoch; 0 if it always was. */
export type Owner = v.InferOutput<typeof Owner>

/** A place that has an owner. */
export interface OwnedPlace {
  /** Its path or URL, for messages. */
  at: string
  /** Null if it is nobody's. */
  read(): Promise<Owner | null>
  write(owner: Owner): Promise<void>
}

export function ownedFolder(directory: string): OwnedPlace {
  const file = ownerFile(directory)
  return {
    at: directory,
    read: async () => readOwner(file, Owner),
    write: async (owner) => writeOwner(file, owner),
  }
}

export function ownedBucket(bucket: Bucket): OwnedPlace {
  const name = ownerFile("")
  const at = `${bucket.url}/${name}`
  return {
    at: bucket.url,
    async read() {
      const bytes = await bucket.open(name)
      return bytes && parseOwner(await text(bytes), at, Owner)
    },
    write: (owner) => bucket.upload(name, chunksOf(`${JSON.stringify(owner)}\n`)),
  }
}

async function* chunksOf(content: string) {
  yield Buffer.from(content)
}

/** A place of backups belongs to another database. */
export class ForeignBackups extends Error {}

/**
 * Makes a place that is nobody's this database's own. Throws an error that says what to do, and
 * changes nothing, if it is another's. Returns since when it is its own. Only one writer of the
 * place may call it at a time.
 */
export async function claimPlace(place: OwnedPlace, own: Identity): Promise<number> {
  const owner = await place.read()
  if (owner === null) {
    // One that was not migrated has no name to write down.
    if (own.installation !== null) await place.write({ ...own, since: 0 })
    return 0
  }
  if (!isOwnedBy(owner, own)) throw new ForeignBackups(describeForeign(place.at))
  return owner.since
}

/** Since when the place is this database's, in ms since the epoch; null if it is another's. */
export async function ownedSince(place: OwnedPlace, own: Identity): Promise<number | null> {
  const owner = await place.read()
  if (owner === null) return 0
  return isOwnedBy(owner, own) ? owner.since : null
}

/** Those of the places that belong to another database. */
export async function findForeign(places: readonly OwnedPlace[], own: Identity): Promise<OwnedPlace[]> {
  const since = await Promise.all(places.map((place) => ownedSince(place, own)))
  return places.filter((_, at) => since[at] === null)
}

/** Whatever is there continues as this database's. Returns whether it was another's. */
export async function takeOverPlace(place: OwnedPlace, own: Identity): Promise<boolean> {
  const owner = await place.read()
  if (owner !== null && isOwnedBy(owner, own)) return false
  await place.write({ ...own, since: owner === null ? 0 : Date.now() })
  return owner !== null
}

function isOwnedBy(owner: Owner, own: Identity): boolean {
  return isSame(owner, own.installation === null ? { ...own, installation: owner.installation } : own)
}

export function describeForeign(at: string): string {
  return (
    `${at} has the backups of another database, and nothing was changed there. ` +
    "If this is a copy, give it a place of its own, or take no backups: BACKUP_SCHEDULE and BACKUP_HISTORY empty. " +
    "If it takes the place of that database, after a restore, a move or an upgrade of PostgreSQL: npm run backup -- --take-over"
  )
}
