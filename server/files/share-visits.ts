import { and, eq, isNull, lt, or, sql } from "drizzle-orm"
import { blobs, fileShares } from "#db/schema/files.ts"
import { hasShown, linkCookie } from "#server/links/cookies.ts"
import { findLink, isNotOver, isOpen, NoSuchLink, PasswordNeeded } from "#server/links/visits.ts"
import type { ByteRange } from "#server/transport/conditional.ts"
import type { Scope } from "#server/scope.ts"
import type { SharedFile } from "./contract.ts"
import { sendBytes } from "./serve.ts"
import { fileLinks } from "./shares.ts"

/** What a link's visitor may see: the file, or only that it needs a password. Throws `NoSuchLink`. */
export async function visitShare(
  scope: Scope<"db" | "config">,
  token: string,
  request: Request,
): Promise<SharedFile> {
  const { link, thing, owner } = await findLink(scope, fileLinks, token, request)
  if (!isOpen(scope, link, request)) return { sharedBy: owner.name, file: null }
  const { fileName, mimeType, size } = thing
  return { sharedBy: owner.name, file: { fileName, mimeType, size, expiresAt: link.expiresAt } }
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
  const [blob] = await scope.db
    .select({ key: blobs.key, sha256: blobs.sha256 })
    .from(blobs)
    .where(eq(blobs._id, thing.storageId))
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
