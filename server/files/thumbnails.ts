import { eq } from "drizzle-orm"
import { createHash } from "node:crypto"
import { buffer } from "node:stream/consumers"
import { files, fileThumbnails } from "#db/schema/files.ts"
import { Unavailable, UnsupportedType } from "#server/errors.ts"
import { isFresh } from "#server/transport/conditional.ts"
import type { Scope } from "#server/scope.ts"
import { ownFile } from "./access.ts"
import { findFile } from "./files.ts"
import { ISOLATED } from "./serve.ts"

type Drawing = Scope<"db" | "blobs" | "log" | "thumbnailer" | "viewer">

/** Bytes. More is not read for a picture of 256 pixels. */
const LARGEST_IMAGE = 50_000_000

/**
 * Types whose decoders are worth their risk. A drawing in SVG is a program, and is never drawn
 * here.
 */
const DRAWABLE = new Set(["image/jpeg", "image/png", "image/apng", "image/webp", "image/gif", "image/avif"])

/**
 * Answers GET and HEAD for the small picture of an image, made when it is first asked for and kept.
 * Throws `UnsupportedType` where there can be none, `Unavailable` where there is none now,
 * `NotFound`.
 */
export async function serveThumbnail(scope: Drawing, id: string, request: Request): Promise<Response> {
  const file = await findFile(scope, id)
  if (!DRAWABLE.has(file.mimeType)) throw noPicture(file.fileName)
  const picture = (await findKept(scope, file._id)) ?? (await drawOnce(scope, file))
  if (picture.bytes === null) throw noPicture(file.fileName)

  const etag = `"${createHash("sha256").update(picture.bytes).digest("hex").slice(0, 32)}"`
  const headers = new Headers({
    ...ISOLATED,
    // It never changes. Signing out changes the cookie, and the browser does not use what it
    // cached.
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

/**
 * The square in the middle of an image, 256 pixels wide, as WebP; null where none can be made.
 * Throws `Unavailable` where there is none now.
 */
export function drawSquare(
  { thumbnailer }: Scope<"thumbnailer">,
  image: Uint8Array,
): Promise<Uint8Array | null> {
  return thumbnailer.draw(async () => image, "square").catch(explain)
}

interface Picture {
  /** Null where none can be made. */
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

/** Pictures that are being made, by their file: a page asks for one in several places at once. */
const underWay = new Map<string, Promise<Picture>>()

function drawOnce(scope: Drawing, file: Source): Promise<Picture> {
  const begun = underWay.get(file._id)
  if (begun) return begun
  const drawing = draw(scope, file).finally(() => underWay.delete(file._id))
  underWay.set(file._id, drawing)
  return drawing
}

async function draw(scope: Drawing, file: Source): Promise<Picture> {
  const bytes =
    file.size > LARGEST_IMAGE ? null : await scope.thumbnailer.draw(() => load(scope, file)).catch(explain)
  await keep(scope, file._id, bytes)
  return { bytes }
}

async function load({ blobs }: Drawing, file: Source): Promise<Uint8Array> {
  const stream = await blobs.open(file.key)
  if (!stream) throw new Error(`The bytes of file ${file._id} are missing from the blob store: ${file.key}.`)
  return buffer(stream)
}

function explain(error: unknown): never {
  if (error instanceof Error && error.name === "ThumbnailerBusy")
    throw new Unavailable("The thumbnail is not ready yet. Try again in a moment.")
  throw error
}

/**
 * Also that there is none, so that nobody tries again. The file may have been removed in the
 * meantime.
 */
async function keep(scope: Drawing, fileId: string, bytes: Uint8Array | null) {
  await scope.db.transaction(async (tx) => {
    const [file] = await tx
      .select({ _id: files._id })
      .from(files)
      .where(ownFile(scope, fileId))
      .for("key share")
    if (file) await tx.insert(fileThumbnails).values({ fileId, bytes }).onConflictDoNothing()
  })
}

function noPicture(fileName: string) {
  return new UnsupportedType(`There is no thumbnail of ${fileName}.`)
}
