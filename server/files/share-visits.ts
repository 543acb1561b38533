import { buffer } from "node:stream/consumers"
import { and, eq, isNull, lt, or, sql } from "drizzle-orm"
import { blobs, fileShares, type File, type FileShare } from "#db/schema/files.ts"
import { hasShown, linkCookie } from "#server/links/cookies.ts"
import { findLink, isNotOver, isOpen, NoSuchLink, PasswordNeeded } from "#server/links/visits.ts"
import type { ByteRange } from "#server/transport/conditional.ts"
import type { Scope } from "#server/scope.ts"
import { isShownInline, isTextType, type SharedFile, type SharedPreview } from "./contract.ts"
import { readStored } from "./read-stored.ts"
import { sendBytes } from "./serve.ts"
import { fileLinks } from "./shares.ts"
import { decodeText } from "./text-contract.ts"

/** What a link's visitor may see: the file, or only that it needs a password. Throws `NoSuchLink`. */
export async function visitShare(
  scope: Scope<"db" | "config" | "blobs" | "log">,
  token: string,
  request: Request,
): Promise<SharedFile> {
  const { link, thing, owner } = await findLink(scope, fileLinks, token, request)
  if (!isOpen(scope, link, request)) return { sharedBy: owner.name, file: null }
  const { fileName, mimeType, size } = thing
  const preview = await previewOf(scope, link, thing)
  return { sharedBy: owner.name, file: { fileName, mimeType, size, expiresAt: link.expiresAt, preview } }
}

/** Bytes of a text that the page brings. */
const TEXT_SHOWN = 30_000

async function previewOf(
  scope: Scope<"db" | "blobs" | "log">,
  { maxDownloads }: FileShare,
  file: File,
): Promise<SharedPreview | null> {
  if (maxDownloads !== null) return null
  const kind = shownKindOf(file.mimeType)
  if (kind !== "text") return kind && { kind }
  const [blob] = await findBlob(scope, file)
  if (!blob) throw new NoSuchLink()
  if (file.size === 0) return null
  const beginning = await readStored(
    scope,
    { ...file, ...blob },
    { start: 0, end: Math.min(TEXT_SHOWN, file.size) - 1 },
  )
  return { kind, text: decodeText(await buffer(beginning)), isWhole: file.size <= TEXT_SHOWN }
}

/** Null if browsers do not show the type, or could run scripts that are in it. */
function shownKindOf(mimeType: string): SharedPreview["kind"] | null {
  if (mimeType === "image/svg+xml") return "image"
  if (isTextType(mimeType)) return "text"
  if (!isShownInline(mimeType)) return null
  if (mimeType === "application/pdf") return "pdf"
  const [kind] = mimeType.split("/")
  return kind === "image" || kind === "video" || kind === "audio" ? kind : null
}

/**
 * Handles GET and HEAD for the bytes that the page of a link shows, which is no download. Throws
 * `NoSuchLink` also where the page shows none, `PasswordNeeded`.
 */
export async function previewShare(
  scope: Scope<"db" | "config" | "blobs" | "log">,
  token: string,
  request: Request,
): Promise<Response> {
  const { link, thing } = await findLink(scope, fileLinks, token, request)
  if (!isOpen(scope, link, request)) throw new PasswordNeeded()
  const kind = shownKindOf(thing.mimeType)
  const [blob] = await findBlob(scope, thing)
  if (!blob || link.maxDownloads !== null || kind === null || kind === "text") throw new NoSuchLink()
  return sendBytes(scope, { ...thing, ...blob }, request, {
    disposition: isShownInline(thing.mimeType) ? "inline" : "attachment",
    caching: "private, no-store, no-transform",
  })
}

function findBlob({ db }: Scope<"db">, { storageId }: File) {
  return db.select({ key: blobs.key, sha256: blobs.sha256 }).from(blobs).where(eq(blobs._id, storageId))
}

/**
 * Handles GET and HEAD for the shared bytes. The whole file or a range counts as one download;
 * ranges that continue it do not, if the browser has the cookie of the counted one. Throws
 * `NoSuchLink`, `PasswordNeeded`.
 */
export async function downloadShare(
  scope: Scope<"db" | "config" | "blobs" | "log">,
  token: string,
  request: Request,
): Promise<Response> {
  const { link, thing } = await findLink(scope, fileLinks, token, request)
  if (!isOpen(scope, link, request)) throw new PasswordNeeded()
  const [blob] = await findBlob(scope, thing)
  // Deleted in the meantime.
  if (!blob) throw new NoSuchLink()

  const countOnce = async (range: ByteRange | null) => {
    const goesOn = range !== null && range.start > 0 && hasShown(scope, "download", link, request)
    if (goesOn) return new Headers()
    if (!(await countDownload(scope, link._id))) throw new NoSuchLink()
    return new Headers({
      "Set-Cookie": linkCookie(scope, "download", { link, path: `${fileLinks.path}/${token}` }),
    })
  }
  return sendBytes(scope, { ...thing, ...blob }, request, {
    disposition: "attachment",
    caching: "private, no-store, no-transform",
    beforeSending: countOnce,
  })
}

/** One conditional update: no more concurrent downloads begin than the link allows. */
async function countDownload({ db }: Scope<"db">, shareId: string): Promise<boolean> {
  const counted = await db
    .update(fileShares)
    .set({ downloads: sql`${fileShares.downloads} + 1` })
    .where(
      and(
        eq(fileShares._id, shareId),
        isNotOver(fileShares.expiresAt),
        or(isNull(fileShares.maxDownloads), lt(fileShares.downloads, fileShares.maxDownloads)),
      ),
    )
    .returning({ _id: fileShares._id })
  return counted.length > 0
}
