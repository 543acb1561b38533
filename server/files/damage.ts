import { and, asc, eq, gt, sql } from "drizzle-orm"
import { blobs, damagedBlobs } from "#db/schema/files.ts"
import { holds } from "#server/backup/digest.ts"
import { eachRow } from "#server/each-row.ts"
import type { Scope } from "#server/scope.ts"

/** What is wrong with bytes that a row describes. */
export type Damage = "missing" | "shorter" | "longer" | "changed" | "unreadable"

/** How many are listed. */
const MOST = 100

/** For what a reader has found. Never throws, because the reader is to be told of the damage. */
export async function reportDamage(
  { db, log }: Scope<"db" | "log">,
  key: string,
  damage: Damage,
): Promise<void> {
  try {
    // Without a row the bytes were removed while they were read.
    if (!(await noteDamage({ db }, key, damage))) return
  } catch (error) {
    log.warn({ err: error, key }, "could not note that the bytes of a file are damaged")
  }
  log.error({ key, damage }, "the bytes of a file are missing or damaged in the blob store")
}

/** Notes it for operators. False if no row describes bytes under this key. */
export async function noteDamage({ db }: Scope<"db">, key: string, damage: Damage): Promise<boolean> {
  const noted = await db.execute(sql`
    insert into ${damagedBlobs} (blob_id, damage, found_at)
    select ${blobs._id}, ${damage}, ${Date.now()}::bigint from ${blobs} where ${blobs.key} = ${key} for key share
    on conflict (blob_id) do update set damage = excluded.damage returning blob_id`)
  return noted.length > 0
}

export async function forgetDamage({ db }: Scope<"db">, blobId: string): Promise<void> {
  await db.delete(damagedBlobs).where(eq(damagedBlobs.blobId, blobId))
}

/** How many blobs are known to be damaged, and the first of them. */
export async function listDamage({ db }: Scope<"db">) {
  const [listed, count] = await Promise.all([
    db
      .select({ key: blobs.key, damage: damagedBlobs.damage })
      .from(damagedBlobs)
      .innerJoin(blobs, eq(blobs._id, damagedBlobs.blobId))
      .orderBy(asc(damagedBlobs.foundAt), asc(damagedBlobs.blobId))
      .limit(MOST),
    db.$count(damagedBlobs),
  ])
  return { listed, count }
}

/**
 * Forgets what has been put back. Bytes of the right size are read only if the size was wrong when they
 * were looked at last, so that large ones are not read every time.
 */
export async function forgetRepaired(
  scope: Scope<"db" | "blobs">,
  _now?: number,
  stopping?: AbortSignal,
): Promise<void> {
  const resized = and(
    eq(blobs._id, damagedBlobs.blobId),
    sql`${damagedBlobs.damage} in ('missing', 'shorter', 'longer')`,
  )
  const found = eachRow((after, most) =>
    scope.db
      .select({ _id: blobs._id, key: blobs.key, size: blobs.size, sha256: blobs.sha256 })
      .from(damagedBlobs)
      .innerJoin(blobs, resized)
      .where(after === undefined ? undefined : gt(damagedBlobs.blobId, after))
      .orderBy(asc(damagedBlobs.blobId))
      .limit(most),
  )
  for await (const row of found) {
    if (stopping?.aborted) return
    if ((await scope.blobs.storedSize(row.key)) !== row.size) continue
    if (await holds(scope.blobs, row)) await forgetDamage(scope, row._id)
    else
      await scope.db
        .update(damagedBlobs)
        .set({ damage: "changed" satisfies Damage })
        .where(eq(damagedBlobs.blobId, row._id))
  }
}
