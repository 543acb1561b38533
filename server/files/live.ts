import * as v from "valibot"
import type { Scope, Viewer } from "#server/scope.ts"
import { defineLiveQuery, defineMutation } from "#server/realtime/live-query.ts"
import { watchedFiles } from "#server/watched-tables.ts"
import { fileCalls, FileId, RenameFile } from "./contract.ts"
import { removeFile, renameFile } from "./files.ts"

/** The viewer's files, the newest first. `after` is the `end` of the page before. */
export const fileList = defineLiveQuery({
  name: "files.list",
  args: v.strictObject({ after: v.optional(v.pipe(v.string(), v.maxLength(200))) }),
  table: watchedFiles,
  range: ({ after }, viewer: Viewer) => ({
    eq: { userId: viewer.user._id },
    order: { field: "_id", direction: "desc" },
    after,
    limit: 100,
  }),
  fields: ["_creationTime", "fileName", "mimeType", "size"],
})

export const liveFiles = [fileList]

export const fileMutations = [
  defineMutation({
    name: fileCalls.rename.name,
    args: v.strictObject({ fileId: FileId, ...RenameFile.entries }),
    run: (scope: Scope<"db" | "viewer">, { fileId, fileName }) => renameFile(scope, fileId, { fileName }),
  }),
  defineMutation({
    name: fileCalls.remove.name,
    args: v.strictObject({ fileId: FileId }),
    run: (scope: Scope<"db" | "blobs" | "log" | "viewer" | "afterCommit">, { fileId }) =>
      removeFile(scope, fileId),
  }),
]
