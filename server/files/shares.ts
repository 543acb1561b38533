import { files, fileShares, type File, type FileShare } from "#db/schema/files.ts"
import { linkRowOf } from "#server/links/contract.ts"
import { createLink, listLinks, revokeLink } from "#server/links/links.ts"
import type { LinkTarget } from "#server/links/target.ts"
import { implement } from "#server/operations/implement.ts"
import type { ShareFile, ShareSummary } from "./contract.ts"
import { fileShareOperations } from "./shares-contract.ts"

/** Public links to files. */
export const fileLinks: LinkTarget<ShareFile, ShareSummary, FileShare, File> = {
  name: "file",
  path: "/share",
  tooMany: "too-many-links",
  things: files,
  links: fileShares,
  of: fileShares.fileId,
  valuesOf: (_scope, { _id }, { maxDownloads }) => ({ fileId: _id, maxDownloads: maxDownloads ?? null }),
  rowOf: shareSummary,
  isUsedUp: ({ downloads, maxDownloads }) => maxDownloads !== null && downloads >= maxDownloads,
}

/** A link as its owner sees it: without its hashes. */
export function shareSummary({
  fileId,
  maxDownloads,
  downloads,
  ...link
}: Omit<FileShare, "userId" | "tokenHash" | "spaceKey">): ShareSummary {
  return { ...linkRowOf(link), fileId, maxDownloads, downloads }
}

export const fileShareFunctions = implement(fileShareOperations, {
  listShares: (scope, { fileId }) => listLinks(scope, fileLinks, fileId),
  share: (scope, { fileId, ...limits }, { once }) => createLink(scope, fileLinks, fileId, limits, once),
  revokeShare: (scope, { shareId }) => revokeLink(scope, fileLinks, shareId),
})
