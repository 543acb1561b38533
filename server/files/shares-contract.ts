import { linkOperations } from "#server/links/operations-contract.ts"
import { FileId, ShareFile, ShareRow } from "./contract.ts"

export const fileShareOperations = linkOperations("files", {
  tag: "Files",
  missing: "file",
  of: { fileId: FileId },
  limits: ShareFile.entries,
  row: ShareRow,
  at: { thing: "files/:fileId", link: "files/shares" },
  ids: { list: "listShares", probe: "probeShares", create: "shareFile", revoke: "revokeShare" },
  refuses: "too-many-links",
  once: true,
})
