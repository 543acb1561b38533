import { and, asc, eq, getTableColumns, gt, inArray, lt } from "drizzle-orm"
import { blobs, damagedBlobs, files, uploads } from "#db/schema/files.ts"
import { holds } from "#server/backup/digest.ts"
import { eachRow } from "#server/each-row.ts"
import type { ListedBlob } from "#server/ports/blobs.ts"
import type { Scope } from "#server/scope.ts"
import { formatBytes } from "#server/text-contract.ts"
import { forgetDamage, noteDamage } from "./damage.ts"
import { discardBlob, discardUpload, removeNameless, removeRest } from "./discard.ts"
import { GRACE, isUnused, LONGEST_JOIN } from "./sweep.ts"
import { correctUsage, findWrongUsage } from "./usage.ts"

type Checking = Scope<"db" | "blobs" | "log">

/** A disagreement between the rows and the blob store. */
export interface Finding {
  kind: "missing" | "damaged" | "nameless" | "rest" | "unused" | "late" | "miscounted"
  /** A sentence for the operator. */
  text: string
  /** Present if it can be repaired without losing anything that a row refers to. */
  repair?: () => Promise<unknown>
}

/** Keys of the store that are compared at a time. */
const BATCH = 500

/**
 * Compares every row with the store and the store with the rows. The server may be running: every
 * suspect is checked again before it is reported. `checksums` reads all bytes.
 */
export async function* checkFiles(
  scope: Checking,
  { checksums = false, now = Date.now() }: { checksums?: boolean; now?: number } = {},
): AsyncGenerator<Finding> {
  const stored = new Map<string, boolean>()
  yield* checkStore(scope, stored, now)
  yield* checkRows(scope, stored, { checksums })
  yield* checkUnfinished(scope, now)
  yield* checkUnused(scope, now)
  yield* checkLate(scope, now)
  for (const { userId, email, counted, truly } of await findWrongUsage(scope)) {
    yield {
      kind: "miscounted",
      text:
        `${email}: counted are ${counted.files} files, ${counted.used} bytes used, ${counted.reserved} reserved and ${counted.trashed} in the trash; ` +
        `in fact ${truly.files}, ${truly.used}, ${truly.reserved} and ${truly.trashed}.`,
      repair: () => correctUsage(scope, userId),
    }
  }
}

/** From the store to the rows. Records in `stored` what exists, and whether its size is right. */
async function* checkStore(
  scope: Checking,
  stored: Map<string, boolean>,
  now: number,
): AsyncGenerator<Finding> {
  for await (const batch of batchesOf(scope.blobs.list("stored"))) {
    const sizes = await findSizes(scope, batch)
    for (const { key, size, modifiedAt } of batch) {
      const known = sizes.get(key)
      const isWrong = known !== undefined && known !== null && known !== size
      stored.set(key, !isWrong)
      if (known === undefined) {
        if (modifiedAt < now - GRACE && (await isStored(scope, key))) yield nameless(scope, key, size)
      } else if (isWrong) {
        await noteDamage(scope, key, size < known ? "shorter" : "longer")
        yield {
          kind: "damaged",
          text: `${key} has ${size} bytes, and its row says ${known}. Restore it: npm run files -- repair --from <backups>`,
        }
      }
    }
  }
}

/** By key: the size in its row, or null for an upload. */
async function findSizes({ db }: Scope<"db">, batch: ListedBlob[]): Promise<Map<string, number | null>> {
  const keys = batch.map(({ key }) => key)
  // Uploads first: a key moves from there to the blobs, never back.
  const ofUploads = await db.select({ key: uploads.key }).from(uploads).where(inArray(uploads.key, keys))
  const ofBlobs = await db.select().from(blobs).where(inArray(blobs.key, keys))
  return new Map([
    ...ofUploads.map(({ key }) => [key ?? "", null] as const),
    ...ofBlobs.map(({ key, size }) => [key, size] as const),
  ])
}

function nameless(scope: Checking, key: string, size: number): Finding {
  return {
    kind: "nameless",
    text: `${key} (${formatBytes(size)}) is in the store, and no row names it.`,
    repair: () => removeNameless(scope, key),
  }
}

/** From the rows to the store. Reads bytes that were found damaged before, in case they are right again. */
async function* checkRows(
  scope: Checking,
  stored: ReadonlyMap<string, boolean>,
  { checksums }: { checksums: boolean },
): AsyncGenerator<Finding> {
  const rows = eachRow((after, most) =>
    scope.db
      .select({ ...getTableColumns(blobs), damage: damagedBlobs.damage })
      .from(blobs)
      .leftJoin(damagedBlobs, eq(damagedBlobs.blobId, blobs._id))
      .where(after === undefined ? undefined : gt(blobs._id, after))
      .orderBy(asc(blobs._id))
      .limit(most),
  )
  for await (const row of rows) {
    if (stored.get(row.key) === false) continue
    // Whatever was stored after the listing began is not in the list.
    const isThere = stored.has(row.key) || (await isStored(scope, row.key))
    const mustRead = checksums || row.damage !== null
    const isRight = isThere && (!mustRead || (await holds(scope.blobs, row)))
    if (isRight && row.damage !== null) await forgetDamage(scope, row._id)
    if (isRight || !(await isRow(scope, row._id))) continue
    await noteDamage(scope, row.key, isThere ? "changed" : "missing")
    const what = isThere ? "has another checksum than its row" : "is not in the store"
    yield {
      kind: isThere ? "damaged" : "missing",
      text: `${row.key} ${what}. It is ${await describeFiles(scope, row._id)}. Restore it: npm run files -- repair --from <backups>`,
    }
  }
}

async function isRow({ db }: Scope<"db">, id: string) {
  return (await db.$count(blobs, eq(blobs._id, id))) > 0
}

async function isStored({ blobs: store }: Scope<"blobs">, key: string) {
  return (await store.storedSize(key)) !== null
}

async function describeFiles({ db }: Scope<"db">, storageId: string): Promise<string> {
  const of = await db
    .select({ id: files._id, fileName: files.fileName })
    .from(files)
    .where(eq(files.storageId, storageId))
  return of.map(({ id, fileName }) => `file ${id}, ${JSON.stringify(fileName)}`).join("; ") || "no file's"
}

async function* checkUnfinished(scope: Checking, now: number): AsyncGenerator<Finding> {
  for await (const batch of batchesOf(scope.blobs.list("unfinished"))) {
    const old = batch.filter(({ modifiedAt }) => modifiedAt < now - GRACE)
    const sizes = await findSizes(scope, old)
    for (const { key, size } of old) {
      const known = sizes.get(key)
      if (known === undefined) yield nameless(scope, key, size)
      else if (known !== null) yield restOf(scope, key, size)
    }
  }
  for await (const { key, beganAt, abandon } of scope.blobs.listJoins()) {
    if (beganAt >= now - LONGEST_JOIN) continue
    yield {
      kind: "rest",
      text: `${key} has parts of a multipart upload begun ${new Date(beganAt).toISOString()} that was never completed.`,
      repair: abandon,
    }
  }
}

function restOf(scope: Checking, key: string, size: number): Finding {
  return {
    kind: "rest",
    text: `${key} is stored, and ${formatBytes(size)} of its upload are still there.`,
    repair: () => removeRest(scope, key),
  }
}

async function* checkUnused(scope: Checking, now: number): AsyncGenerator<Finding> {
  const unused = await scope.db
    .select()
    .from(blobs)
    .where(and(lt(blobs._creationTime, now - GRACE), isUnused(scope)))
  for (const { _id, key, size } of unused) {
    yield {
      kind: "unused",
      text: `${key} (${formatBytes(size)}) is of no file.`,
      repair: () => discardBlob(scope, _id),
    }
  }
}

async function* checkLate(scope: Checking, now: number): AsyncGenerator<Finding> {
  const late = await scope.db
    .select()
    .from(uploads)
    .where(lt(uploads.expiresAt, now - GRACE))
  for (const { _id, expiresAt, reserved } of late) {
    yield {
      kind: "late",
      text: `Upload ${_id} ended ${new Date(expiresAt).toISOString()} and still holds ${formatBytes(reserved)}.`,
      repair: () => discardUpload(scope, _id),
    }
  }
}

async function* batchesOf(list: AsyncIterable<ListedBlob>): AsyncGenerator<ListedBlob[]> {
  let batch: ListedBlob[] = []
  for await (const one of list) {
    batch.push(one)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
