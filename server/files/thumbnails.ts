import { and, eq } from "drizzle-orm"
import { createHash } from "node:crypto"
import { buffer } from "node:stream/consumers"
import { files, fileThumbnails } from "#db/schema/files.ts"
import { UnsupportedType } from "#server/errors.ts"
import { isFresh } from "#server/transport/conditional.ts"
import { ISOLATED } from "#server/transport/security-headers.ts"
import type { Scope } from "#server/scope.ts"
import { readableFiles } from "./access.ts"
import { hasThumbnail } from "./contract.ts"
import { findFile } from "./files.ts"
import { readStored } from "./read-stored.ts"

type Drawing = Scope<"db" | "blobs" | "log" | "thumbnailer" | "viewer">

/** Bytes. Larger images are not read for a thumbnail of 256 pixels. */
const LARGEST_IMAGE = 50_000_000

/**
 * Handles GET and HEAD for an image's thumbnail, which is created on first request and stored.
 * Throws `UnsupportedType` if there can be none, `Unavailable` if there is none yet or the
 * image is damaged, and `NotFound`.
 */
export async function serveThumbnail(scope: Drawing, id: string, request: Request): Promise<Response> {
  const file = await findFile(scope, id)
  if (!hasThumbnail(file.mimeType)) throw noPicture(file.fileName)
  const picture = (await findKept(scope, file._id)) ?? (await drawOnce(scope, file))
  if (picture.bytes === null) throw noPicture(file.fileName)

  const etag = `"${createHash("sha256").update(picture.bytes).digest("hex").slice(0, 32)}"`
  const headers = new Headers({
    ...ISOLATED,
    // It never changes. Signing out changes the cookie, and then the browser does not use its
    // cache.
    "Cache-Control": "private, max-age=3600",
    "Content-Type": "image/webp",
    "Content-Length": String(picture.bytes.byteLength),
    ETag: etag,
  })
  if (isFresh(request.headers, etag)) {
    headers.delete("Content-Length")
    return new Response(null, { status: 304, headers })
  }
  return new Response(request.method === "HEAD" ? null : new Uint8Array(picture.bytes), { headers })
}

interface Picture {
  /** Null if none can be created. */
  bytes: Uint8Array | null
}

async function findKept({ db }: Scope<"db">, fileId: string): Promise<Picture | undefined> {
  const [kept] = await db
    .select({ bytes: fileThumbnails.bytes })
    .from(fileThumbnails)
    .where(eq(fileThumbnails.fileId, fileId))
  return kept
}

type Source = Awaited<ReturnType<typeof findFile>>

/**
 * Thumbnails that are being created, by file: a page requests one in several places at the same
 * time.
 */
const underWay = new Map<string, Promise<Picture>>()

function drawOnce(scope: Drawing, file: Source): Promise<Picture> {
  const begun = underWay.get(file._id)
  if (begun) return begun
  const drawing = draw(scope, file).finally(() => underWay.delete(file._id))
  underWay.set(file._id, drawing)
  return drawing
}

async function draw(scope: Drawing, file: Source): Promise<Picture> {
  const bytes = file.size > LARGEST_IMAGE ? null : await scope.thumbnailer.draw(() => load(scope, file))
  await keep(scope, file._id, bytes)
  return { bytes }
}

async function load(scope: Drawing, file: Source): Promise<Uint8Array> {
  return buffer(await readStored(scope, file))
}

/**
 * Also stores that there can be none, so that nobody tries again. The file may have been deleted in
 * the meantime.
 */
async function keep(scope: Drawing, fileId: string, bytes: Uint8Array | null) {
  await scope.db.transaction(async (tx) => {
    const [file] = await tx
      .select({ _id: files._id })
      .from(files)
      .where(and(readableFiles(scope, { trashed: false }), eq(files._id, fileId)))
      .for("key share")
    if (file) await tx.insert(fileThumbnails).values({ fileId, bytes }).onConflictDoNothing()
  })
}

function noPicture(fileName: string) {
  return new UnsupportedType("thumbnail-impossible", { fileName })
}
