import { and, eq, isNull, lt, or, sql } from "drizzle-orm"
import { blobs, files, fileShares } from "#db/schema/files.ts"
import { spaceMembers } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import { hasShown, linkCookie, type Link } from "#server/links/cookies.ts"
import { hashLinkToken, isLinkToken } from "#server/links/token.ts"
import {
  isNotOver,
  isUnlocked,
  NoSuchLink,
  PasswordNeeded,
  unlockLink,
  type Guess,
} from "#server/links/visits.ts"
import type { ByteRange } from "#server/transport/conditional.ts"
import type { Scope } from "#server/scope.ts"
import type { SharedFile } from "./contract.ts"
import { sendBytes } from "./serve.ts"

type Visiting = Scope<"db" | "config">
/**
 * What a link's visitor may see: the file, or only that it needs a password. Throws `NoSuchLink`.
 */
export async function visitShare(scope: Visiting, token: string, request: Request): Promise<SharedFile> {
  const { share, file, sharedBy } = await findShare(scope, token, request)
  if (!isOpen(scope, share, request)) return { sharedBy, file: null }
  const { fileName, mimeType, size } = file
  return { sharedBy, file: { fileName, mimeType, size, expiresAt: share.expiresAt } }
}

/** As `unlockLink` does. Throws `NoSuchLink`. */
export async function unlockShare(
  scope: Visiting & Parameters<typeof unlockLink>[0],
  token: string,
  guess: Guess,
  request: Request,
) {
  const { share } = await findShare(scope, token, request)
  return unlockLink(scope, { link: share, path: `/share/${token}` }, guess)
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
  const { share, file } = await findShare(scope, token, request)
  if (!isOpen(scope, share, request)) throw new PasswordNeeded()

  const countOnce = async (range: ByteRange | null) => {
    const goesOn = range !== null && range.start > 0 && hasShown(scope, "download", share, request)
    if (goesOn) return new Headers()
    if (!(await countDownload(scope, share._id))) throw new NoSuchLink()
    return new Headers({
      "Set-Cookie": linkCookie(scope, "download", { link: share, path: `/share/${token}` }),
    })
  }
  return sendBytes(scope, file, request, {
    disposition: "attachment",
    caching: "private, no-store, no-transform",
    beforeSending: countOnce,
  })
}

/**
 * Throws `NoSuchLink`, also for a used-up link, except to the browser whose download was counted.
 */
async function findShare(scope: Visiting, token: string, request: Request) {
  if (!isLinkToken(token)) throw new NoSuchLink()
  const [found] = await scope.db
    .select({
      share: {
        _id: fileShares._id,
        passwordHash: fileShares.passwordHash,
        expiresAt: fileShares.expiresAt,
        isUsedUp: sql<boolean>`coalesce(${fileShares.downloads} >= ${fileShares.maxDownloads}, false)`,
      },
      file: {
        _id: files._id,
        fileName: files.fileName,
        mimeType: files.mimeType,
        size: files.size,
        modifiedAt: files.modifiedAt,
        key: blobs.key,
        sha256: blobs.sha256,
      },
      sharedBy: users.name,
    })
    .from(fileShares)
    .innerJoin(files, eq(files._id, fileShares.fileId))
    .innerJoin(blobs, eq(blobs._id, files.storageId))
    .innerJoin(users, eq(users._id, fileShares.userId))
    .leftJoin(
      spaceMembers,
      and(eq(spaceMembers.spaceId, files.spaceId), eq(spaceMembers.userId, fileShares.userId)),
    )
    .where(
      and(
        eq(fileShares.tokenHash, hashLinkToken(token)),
        eq(files.trashed, false),
        // A link to a file in a space shows what its creator may see there.
        or(isNull(files.spaceId), eq(spaceMembers.trashed, false)),
        isNotOver(fileShares.expiresAt),
      ),
    )
  if (!found) throw new NoSuchLink()
  if (found.share.isUsedUp && !hasShown(scope, "download", found.share, request)) throw new NoSuchLink()
  return found
}

function isOpen(scope: Scope<"config">, share: Link, request: Request) {
  return isUnlocked(scope, share, request) || hasShown(scope, "download", share, request)
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
