import * as v from "valibot"
import type { Scope, Viewer } from "#server/scope.ts"
import { defineLiveQuery, defineMutation } from "#server/realtime/live-query.ts"
import { watchedFiles, watchedShares, watchedUsage } from "#server/watched-tables.ts"
import { fileCalls, FileId, RenameFile, Selection, ShareId } from "./contract.ts"
import { renameFile } from "./files.ts"
import { revokeShare, shareSummary } from "./shares.ts"
import {
  emptyTrash,
  purgeFile,
  purgeFiles,
  restoreFile,
  restoreFiles,
  trashFile,
  trashFiles,
} from "./trash.ts"

/** The viewer's files, the newest first. `after` is the `end` of the page before. */
export const fileList = defineLiveQuery({
  name: "files.list",
  args: v.strictObject({ after: v.optional(v.pipe(v.string(), v.maxLength(200))) }),
  table: watchedFiles,
  range: ({ after }, viewer: Viewer) => ({
    eq: { userId: viewer.user._id, trashed: false },
    order: { field: "_id", direction: "desc" },
    after,
    limit: 100,
  }),
  fields: ["_creationTime", "fileName", "mimeType", "size"],
})

/** One of the viewer's files, as long as it is there: for what names a file and may outlive it. */
export const fileById = defineLiveQuery({
  name: "files.getFile",
  args: v.strictObject({ fileId: FileId }),
  table: watchedFiles,
  range: ({ fileId }, viewer: Viewer) => ({
    eq: { userId: viewer.user._id, trashed: false, _id: fileId },
  }),
  fields: ["_creationTime", "fileName", "mimeType", "size"],
  answer: "row",
})

/**
 * What the viewer has in the trash, the last trashed first. `after` is the `end` of the page
 * before.
 */
export const trashList = defineLiveQuery({
  name: "files.listTrash",
  args: v.strictObject({ after: v.optional(v.pipe(v.string(), v.maxLength(200))) }),
  table: watchedFiles,
  range: ({ after }, viewer: Viewer) => ({
    eq: { userId: viewer.user._id, trashed: true },
    order: { field: "trashedAt", direction: "desc" },
    after,
    limit: 100,
  }),
  fields: ["_creationTime", "fileName", "mimeType", "size", "trashedAt"],
})

/** The links to one of the viewer's files, or to all of them. */
export const shareList = defineLiveQuery({
  name: "files.listShares",
  args: v.strictObject({
    fileId: v.optional(FileId),
    after: v.optional(v.pipe(v.string(), v.maxLength(200))),
  }),
  table: watchedShares,
  range: ({ fileId, after }, viewer: Viewer) => ({
    eq: { userId: viewer.user._id, ...(fileId === undefined ? {} : { fileId }) },
    order: { field: "_id", direction: "desc" },
    after,
    limit: 100,
  }),
  fields: ["_creationTime", "fileId", "hint", "expiresAt", "passwordHash", "maxDownloads", "downloads"],
  project: shareSummary,
})

/**
 * What the viewer's files take, once there were any. It changes with every change of a file of
 * theirs, whatever that does to the sums.
 */
export const liveUsage = defineLiveQuery({
  name: "files.getUsage",
  args: v.strictObject({}),
  table: watchedUsage,
  range: (_args, viewer: Viewer) => ({ eq: { userId: viewer.user._id } }),
  fields: ["used", "reserved", "trashed", "revision"],
  answer: "row",
})

export const liveFiles = [fileList, fileById, trashList, shareList, liveUsage]

export const fileMutations = [
  defineMutation({
    name: fileCalls.rename.name,
    args: v.strictObject({ fileId: FileId, ...RenameFile.entries }),
    run: (scope: Scope<"db" | "viewer">, { fileId, fileName }) => renameFile(scope, fileId, { fileName }),
  }),
  ofFile(fileCalls.remove.name, trashFile),
  ofFile(fileCalls.restore.name, restoreFile),
  ofFile(fileCalls.purge.name, purgeFile),
  ofFiles(fileCalls.removeMany.name, trashFiles),
  ofFiles(fileCalls.restoreMany.name, restoreFiles),
  ofFiles(fileCalls.purgeMany.name, purgeFiles),
  defineMutation({ name: fileCalls.emptyTrash.name, args: v.strictObject({}), run: emptyTrash }),
  defineMutation({
    name: fileCalls.revokeShare.name,
    args: v.strictObject({ shareId: ShareId }),
    run: (scope: Scope<"db" | "viewer">, { shareId }) => revokeShare(scope, shareId),
  }),
]

function ofFile<const Name extends string, Needs, Value>(
  name: Name,
  verb: (scope: Needs, fileId: string) => Promise<Value>,
) {
  const args = v.strictObject({ fileId: FileId })
  return defineMutation({ name, args, run: (scope: Needs, { fileId }) => verb(scope, fileId) })
}

function ofFiles<const Name extends string, Needs, Value>(
  name: Name,
  verb: (scope: Needs, fileIds: string[]) => Promise<Value>,
) {
  return defineMutation({
    name,
    args: Selection,
    run: (scope: Needs, { fileIds }) => verb(scope, fileIds),
  })
}
