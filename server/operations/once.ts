import { createHash, createHmac } from "node:crypto"
import { and, eq, gt, lte, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { idempotencyKeys, uploads } from "#db/schema/files.ts"
import { BadRequest, Conflict, Unprocessable } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"

/** Milliseconds for which a request that is sent again gets the response of the first one. */
export const REMEMBERED = 24 * 60 * 60 * 1000

/** A key of the sender's choice, so that what is sent twice creates one thing. */
export interface Once {
  key: string
}

type Asking = { db: Database } & Scope<"viewer">

/** What an earlier request with the key created. */
export type Earlier = { response: unknown } | { uploadId: string }

/**
 * The header `Idempotency-Key`, as https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header
 * describes it, also without the quotation marks. Throws `BadRequest`.
 */
export function onceOf({ headers }: Pick<Request, "headers">): Once | undefined {
  const header = headers.get("idempotency-key")
  return header === null ? undefined : onceBy(header)
}

/** The same for a form without JavaScript, which sends no headers. */
export function onceBy(header: string): Once {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header
  if (!/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/.test(key))
    throw new BadRequest("idempotency-key-unfit", { most: 255 })
  return { key }
}

/**
 * What was created with the key before; null if nothing was. Throws `Unprocessable` if the key came
 * with another request, and `Conflict` while the first is in progress.
 */
export async function findEarlier(
  { db, viewer }: Asking,
  once: Once,
  asked: readonly unknown[],
): Promise<Earlier | null> {
  const now = Date.now()
  const here = and(eq(idempotencyKeys.userId, viewer.user._id), eq(idempotencyKeys.keyHash, hashOf(once)))
  const [earlier] = await db
    .select({
      requestHash: idempotencyKeys.requestHash,
      uploadId: idempotencyKeys.uploadId,
      response: idempotencyKeys.response,
      length: uploads.length,
    })
    .from(idempotencyKeys)
    .leftJoin(uploads, eq(uploads._id, idempotencyKeys.uploadId))
    .where(and(here, gt(idempotencyKeys.expiresAt, now)))
  if (!earlier) {
    await db.delete(idempotencyKeys).where(and(here, lte(idempotencyKeys.expiresAt, now)))
    return null
  }
  if (earlier.requestHash !== requestHashOf(once, asked)) throw otherRequest()
  if (earlier.uploadId === null) return { response: earlier.response }
  if (earlier.length === null) throw inProgress()
  return { uploadId: earlier.uploadId }
}

/**
 * Keeps the key in the commit that creates what is asked for. Throws `Conflict` if another request
 * has just done so.
 */
export async function keepOnce(
  { db, viewer }: Asking,
  once: Once,
  asked: readonly unknown[],
  created: Earlier,
): Promise<void> {
  const kept = await db
    .insert(idempotencyKeys)
    .values({
      ...created,
      userId: viewer.user._id,
      keyHash: hashOf(once),
      requestHash: requestHashOf(once, asked),
      expiresAt: Date.now() + REMEMBERED,
    })
    .onConflictDoNothing()
    .returning({ _id: idempotencyKeys._id })
  if (kept.length === 0) throw inProgress()
}

/** The same for what one transaction creates: `db` is that transaction. */
export async function createOnce<Created extends object>(
  scope: Asking,
  once: Once | undefined,
  asked: readonly unknown[],
  create: () => Promise<Created>,
): Promise<Created> {
  if (!once) return create()
  const place = `once ${scope.viewer.user._id} ${once.key}`
  const [lock] = await scope.db.execute<{ taken: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended(${place}, 0)) as taken`,
  )
  if (!lock?.taken) throw inProgress()
  const earlier = await findEarlier(scope, once, asked)
  // The same request was kept with the same kind of response.
  if (earlier && "response" in earlier) return earlier.response as Created
  const created = await create()
  await keepOnce(scope, once, asked, { response: created })
  return created
}

/** In the commit that makes a file of the upload. `response` is what the sender is told of one request. */
export async function keepOutcome(db: Database, uploadId: string, response: object | null): Promise<void> {
  await db
    .update(idempotencyKeys)
    .set({ expiresAt: Date.now() + REMEMBERED, ...(response && { response, uploadId: null }) })
    .where(eq(idempotencyKeys.uploadId, uploadId))
}

export function otherRequest() {
  return new Unprocessable("idempotency-key-used")
}

function inProgress() {
  return new Conflict("idempotency-key-in-progress")
}

function hashOf({ key }: Once): string {
  return createHash("sha256").update(key).digest("hex")
}

/** With the key, so that nobody finds out a password in the request by trying. */
function requestHashOf({ key }: Once, asked: readonly unknown[]): string {
  return createHmac("sha256", key).update(JSON.stringify(asked)).digest("hex")
}
