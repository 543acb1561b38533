import { and, eq, gt, isNull, lt, or, sql } from "drizzle-orm"
import { blobs, files, fileShares } from "#db/schema/files.ts"
import { users } from "#db/schema/users.ts"
import { Refusal } from "#server/errors.ts"
import type { ByteRange } from "#server/transport/conditional.ts"
import type { RateLimit } from "#server/transport/rate-limit.ts"
import type { Scope } from "#server/scope.ts"
import type { SharedFile } from "./contract.ts"
import { sendBytes } from "./serve.ts"
import { hasShown, shareCookie } from "./share-cookies.ts"
import { isSharePassword } from "./share-password.ts"
import { hashToken } from "./shares.ts"

/**
 * The same response for a URL that never existed, was revoked, has expired or is used up, so that
 * it does not reveal which.
 */
class NoSuchLink extends Refusal<"link-dead"> {
  constructor() {
    super(404, "NotFound", "link-dead")
  }
}

class PasswordNeeded extends Refusal<"link-needs-password"> {
  constructor() {
    super(401, "PasswordNeeded", "link-needs-password")
  }
}

type Visiting = Scope<"db" | "config">
interface GuessLimiter {
  limiters: Pick<Scope<"limiters">["limiters"], "sharePassword">
}

/**
 * What a link's visitor may see: the file, or only that it needs a password. Throws `NoSuchLink`.
 */
export async function visitShare(scope: Visiting, token: string, request: Request): Promise<SharedFile> {
  const { share, file, sharedBy } = await findShare(scope, token, request)
  if (!isUnlocked(scope, share, request)) return { sharedBy, file: null }
  const { fileName, mimeType, size } = file
  return { sharedBy, file: { fileName, mimeType, size, expiresAt: share.expiresAt } }
}

/**
 * Guesses at the password of one link in ten minutes: from one network, so that nobody locks others
 * out, and from all networks together, so that many addresses do not help.
 */
export const MOST_GUESSES = { ofNetwork: 20, ofLink: 200 }

/**
 * Returns the cookie for the right password, null for a wrong one, or the limit that was reached.
 * `network` is what `networkIn` returns. Throws `NoSuchLink`.
 */
export async function unlockShare(
  scope: Visiting & GuessLimiter,
  token: string,
  { password, network }: { password: string; network: string },
  request: Request,
): Promise<{ cookie: string | null } | { limit: RateLimit }> {
  const { share } = await findShare(scope, token, request)
  if (share.passwordHash === null) return { cookie: shareCookie(scope, "password", { share, token }) }
  const limit = checkGuess(scope, share._id, network)
  if (!limit.success) return { limit }
  const isRight = await isSharePassword(share.passwordHash, password)
  return { cookie: isRight ? shareCookie(scope, "password", { share, token }) : null }
}

function checkGuess({ limiters }: GuessLimiter, shareId: string, network: string): RateLimit {
  const own = limiters.sharePassword.check(`${shareId} ${network}`, MOST_GUESSES.ofNetwork)
  return own.success ? limiters.sharePassword.check(shareId, MOST_GUESSES.ofLink) : own
}

/**
 * Handles GET and HEAD for the shared bytes. The whole file or a range counts as one download;
 * ranges that continue it do not, if the browser has the cookie of the counted one. Throws
 * `NoSuchLink`, `PasswordNeeded`.
 */
export async function downloadShare(
  scope: Scope<"db" | "config" | "blobs">,
  token: string,
  request: Request,
): Promise<Response> {
  const { share, file } = await findShare(scope, token, request)
  if (!isUnlocked(scope, share, request)) throw new PasswordNeeded()

  const countOnce = async (range: ByteRange | null) => {
    const goesOn = range !== null && range.start > 0 && hasShown(scope, "download", share, request)
    if (goesOn) return new Headers()
    if (!(await countDownload(scope, share._id))) throw new NoSuchLink()
    return new Headers({ "Set-Cookie": shareCookie(scope, "download", { share, token }) })
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
  if (!/^[\w-]{27}$/.test(token)) throw new NoSuchLink()
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
        key: blobs.key,
        sha256: blobs.sha256,
      },
      sharedBy: users.name,
    })
    .from(fileShares)
    .innerJoin(files, eq(files._id, fileShares.fileId))
    .innerJoin(blobs, eq(blobs._id, files.storageId))
    .innerJoin(users, eq(users._id, fileShares.userId))
    .where(and(eq(fileShares.tokenHash, hashToken(token)), eq(files.trashed, false), isNotOver()))
  if (!found) throw new NoSuchLink()
  if (found.share.isUsedUp && !hasShown(scope, "download", found.share, request)) throw new NoSuchLink()
  return found
}

function isUnlocked(scope: Scope<"config">, share: Parameters<typeof hasShown>[2], request: Request) {
  return (
    share.passwordHash === null ||
    hasShown(scope, "password", share, request) ||
    hasShown(scope, "download", share, request)
  )
}

/** One conditional update: no more concurrent downloads begin than the link allows. */
async function countDownload({ db }: Scope<"db">, shareId: string): Promise<boolean> {
  const counted = await db
    .update(fileShares)
    .set({ downloads: sql`${fileShares.downloads} + 1` })
    .where(
      and(
        eq(fileShares._id, shareId),
        isNotOver(),
        or(isNull(fileShares.maxDownloads), lt(fileShares.downloads, fileShares.maxDownloads)),
      ),
    )
    .returning({ _id: fileShares._id })
  return counted.length > 0
}

function isNotOver() {
  return or(isNull(fileShares.expiresAt), gt(fileShares.expiresAt, Date.now()))
}
