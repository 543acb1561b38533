import * as v from "valibot"
import type { Scope, Viewer } from "#server/scope.ts"
import { InSpace, SpaceId } from "#server/spaces/place-contract.ts"
import { isMember, membershipOf, ofPlace, placeOf } from "#server/spaces/live-access.ts"
import { defineChannel } from "#server/realtime/channel.ts"
import { defineLiveQuery, defineMutation, rowEntries } from "#server/realtime/live-query.ts"
import type { InputSchema } from "#server/realtime/unknown-field.ts"
import { watchedFileRevisions, watchedFiles, watchedShares, watchedUsage } from "#db/schema/files.ts"
import { fileCalls, MatchingFiles, MoveFiles, NamedFiles, SelectedTrash } from "./acts-contract.ts"
import { FileId, RenameFile, ShareId, type TrashedFile } from "./contract.ts"
import { fileUploadsChannel, Uploading } from "./upload-progress-contract.ts"
import { renameFile } from "./files.ts"
import { summaryOf } from "./list.ts"
import { copyFiles, moveFiles } from "./move.ts"
import { restoreFile, restoreFiles } from "./restore.ts"
import { revokeShare, shareSummary } from "./shares.ts"
import { emptyTrash, purgeFile, purgeFiles, trashFile, trashFiles } from "./trash.ts"

const FILE_FIELDS = [
  "_creationTime",
  "fileName",
  "mimeType",
  "size",
  "userId",
  "spaceId",
  "modifiedAt",
] as const
const Page = v.optional(v.pipe(v.string(), v.maxLength(200)))
const FileRow = v.strictObject({
  ...rowEntries(watchedFiles, ["_id", "_creationTime", "fileName", "mimeType", "size"]),
  userId: v.optional(v.pipe(v.string(), v.uuid(), v.description("Who added it, if it is in a space."))),
  spaceId: v.optional(v.pipe(v.string(), v.uuid(), v.description("Only of a file in a space."))),
  modifiedAt: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.description("When its bytes were last changed, if the sender said it. Milliseconds since the epoch."),
    ),
  ),
})
const TrashedRow: v.GenericSchema<unknown, TrashedFile> = v.strictObject({
  ...rowEntries(watchedFiles, ["trashedAt"]),
  ...FileRow.entries,
})
const ShareRow = v.strictObject({
  ...rowEntries(watchedShares, [
    "_id",
    "_creationTime",
    "fileId",
    "hint",
    "expiresAt",
    "maxDownloads",
    "downloads",
  ]),
  hasPassword: v.boolean(),
})
const FileCount = v.pipe(v.number(), v.integer(), v.minValue(0))
const NO_FILE = { not_found: "There is no such file, or the caller may not see it." }
const NO_SPACE = { not_found: "There is no such space, or the caller is not a member of it." }
const TOO_MANY = { invalid: "Too many files match." }
const READER = { forbidden: "The caller may only read in the file's space." }

export const fileList = defineLiveQuery({
  name: "files.list",
  description: "The caller's files outside the trash, or those in a space, the newest first.",
  args: v.strictObject({ spaceId: InSpace, after: Page }),
  table: watchedFiles,
  order: { field: "_id", direction: "desc" },
  page: { argument: "after", size: 100 },
  range: ({ spaceId }, viewer: Viewer) => ({ eq: { ...placeOf(viewer, spaceId), trashed: false } }),
  ...ofPlace,
  fields: FILE_FIELDS,
  project: summaryOf,
  row: FileRow,
})

export const fileById = defineLiveQuery({
  name: "files.getFile",
  description: "One of the caller's files, or of those in a space. Gone while it is in the trash.",
  args: v.strictObject({ fileId: FileId, spaceId: InSpace }),
  table: watchedFiles,
  range: ({ fileId, spaceId }, viewer: Viewer) => ({
    eq: { ...placeOf(viewer, spaceId), trashed: false, _id: fileId },
  }),
  ...ofPlace,
  fields: FILE_FIELDS,
  project: summaryOf,
  row: FileRow,
  answer: "row",
})

export const trashList = defineLiveQuery({
  name: "files.listTrash",
  description: "The files in the caller's trash, or in a space's, the last trashed first.",
  args: v.strictObject({ spaceId: InSpace, after: Page }),
  table: watchedFiles,
  order: { field: "trashedAt", direction: "desc" },
  page: { argument: "after", size: 100 },
  range: ({ spaceId }, viewer: Viewer) => ({ eq: { ...placeOf(viewer, spaceId), trashed: true } }),
  ...ofPlace,
  fields: [...FILE_FIELDS, "trashedAt"],
  project: summaryOf,
  row: TrashedRow,
})

export const shareList = defineLiveQuery({
  name: "files.listShares",
  description: "The links to one of the caller's files, or to all of them, or of a space, the newest first.",
  args: v.strictObject({
    fileId: v.optional(FileId),
    spaceId: InSpace,
    after: Page,
  }),
  table: watchedShares,
  order: { field: "_id", direction: "desc" },
  page: { argument: "after", size: 100 },
  range: ({ fileId, spaceId }, viewer: Viewer) => ({
    eq: { ...placeOf(viewer, spaceId), ...(fileId === undefined ? {} : { fileId }) },
  }),
  ...ofPlace,
  fields: ["_creationTime", "fileId", "hint", "expiresAt", "passwordHash", "maxDownloads", "downloads"],
  project: shareSummary,
  row: ShareRow,
})

/**
 * The space that the files take for which the viewer pays, after the first upload. It changes with every change of
 * their files, whatever the sums are.
 */
export const liveUsage = defineLiveQuery({
  name: "files.getUsage",
  description:
    "The space that the files take for which the caller pays: their own, and those in spaces that they own. There is no row before the first upload.",
  args: v.strictObject({}),
  table: watchedUsage,
  range: (_args, viewer: Viewer) => ({ eq: { userId: viewer.user._id } }),
  fields: ["used", "reserved", "trashed", "files", "revision"],
  answer: "row",
})

/** Changes with every change of the files in a space, for lists of them that no live query has. */
export const liveRevision = defineLiveQuery({
  name: "files.getRevision",
  description:
    "Changes whenever the files of a space do, so that a list in another order can be read again. There is no row before the first file.",
  args: v.strictObject({ spaceId: SpaceId }),
  table: watchedFileRevisions,
  range: ({ spaceId }, _viewer: Viewer) => ({ eq: { spaceId: spaceId.toLowerCase() } }),
  authorize: (viewer, { spaceId }, sql) => isMember(viewer, spaceId, sql),
  dependencies: ({ spaceId }, viewer) => [membershipOf(viewer, spaceId)],
  fields: ["revision"],
  answer: "row",
})

/** The server says it, from the bytes that it has received: nobody can claim anything. */
export const fileUploads = defineChannel({
  name: fileUploadsChannel.name,
  description:
    "How far uploads into a space are, once a second for each. Only the server sends. An upload of which nothing has been heard for five seconds is paused or has been lost.",
  query: fileList,
  message: Uploading,
  sentBy: "server",
})

export const fileChannels = [fileUploads]

export const liveFiles = [fileList, fileById, trashList, shareList, liveUsage, liveRevision]

export const fileMutations = [
  defineMutation({
    name: fileCalls.rename.name,
    description: "Renames a file.",
    args: v.strictObject({ fileId: FileId, ...RenameFile.entries }),
    value: FileRow,
    refusals: { ...NO_FILE, ...READER, conflict: "Another file of its place has this name." },
    run: (scope: Scope<"db" | "viewer">, { fileId, fileName }) => renameFile(scope, fileId, { fileName }),
  }),
  ofFile(fileCalls.remove.name, "Moves a file to the trash.", trashFile),
  defineMutation({
    name: fileCalls.restore.name,
    description:
      "Takes a file out of the trash, under another name if its own has been taken in the meantime.",
    args: v.strictObject({ fileId: FileId }),
    value: FileRow,
    refusals: { ...NO_FILE, ...READER },
    run: (scope: Scope<"db" | "viewer">, { fileId }) => restoreFile(scope, fileId),
  }),
  ofFile(fileCalls.purge.name, "Deletes a file permanently, from the trash or the list.", purgeFile),
  ofFiles(fileCalls.removeMany.name, "Moves files to the trash.", NamedFiles, removeMany),
  ofFiles(
    fileCalls.restoreMany.name,
    "Takes files out of the trash, or all that match.",
    SelectedTrash,
    restoreFiles,
  ),
  ofFiles(
    fileCalls.purgeMany.name,
    "Deletes files permanently, or all that match in the trash.",
    SelectedTrash,
    purgeFiles,
  ),
  defineMutation({
    name: fileCalls.removeAll.name,
    description:
      "Moves all files of a place that match to the trash, in one transaction. They are restored together by `trashedAt`.",
    args: MatchingFiles,
    value: v.strictObject({ count: FileCount, trashedAt: v.pipe(v.number(), v.integer()) }),
    refusals: { ...TOO_MANY, ...NO_SPACE, ...READER },
    run: (scope: Scope<"db" | "viewer">, all) => trashFiles(scope, { all }),
  }),
  toPlace(
    fileCalls.move.name,
    "Moves files into a space, or with no space to what is personal to the caller, who must be able to change them. Links that others created end.",
    moveFiles,
  ),
  toPlace(
    fileCalls.copy.name,
    "Copies files into a space, or with no space to what is personal to the caller, who must be able to see them.",
    copyFiles,
  ),
  defineMutation({
    name: fileCalls.emptyTrash.name,
    description:
      "Deletes all files in the caller's trash permanently, or in a space's, and returns how many there were.",
    args: v.strictObject({ spaceId: InSpace }),
    value: FileCount,
    refusals: { ...NO_SPACE, ...READER },
    run: emptyTrash,
  }),
  defineMutation({
    name: fileCalls.revokeShare.name,
    description: "Deletes a link, so that its URL leads nowhere. Running downloads continue.",
    args: v.strictObject({ shareId: ShareId }),
    refusals: { not_found: "There is no such link, or the caller may not see it.", ...READER },
    run: (scope: Scope<"db" | "viewer">, { shareId }) => revokeShare(scope, shareId),
  }),
]

function ofFile<const Name extends string, Needs>(
  name: Name,
  description: string,
  verb: (scope: Needs, fileId: string) => Promise<void>,
) {
  return defineMutation({
    name,
    description,
    args: v.strictObject({ fileId: FileId }),
    refusals: { ...NO_FILE, ...READER },
    run: (scope: Needs, { fileId }) => verb(scope, fileId),
  })
}

async function removeMany(scope: Scope<"db" | "viewer">, which: v.InferOutput<typeof NamedFiles>) {
  const { count } = await trashFiles(scope, which)
  return count
}

function ofFiles<const Name extends string, const Args extends InputSchema, Needs>(
  name: Name,
  description: string,
  args: Args,
  verb: (scope: Needs, which: v.InferOutput<Args>) => Promise<number>,
) {
  return defineMutation({
    name,
    description: `${description} Missing ones are skipped; returns how many existed.`,
    args,
    value: FileCount,
    refusals: { ...TOO_MANY, ...NO_SPACE, ...READER },
    run: verb,
  })
}

function toPlace<const Name extends string>(
  name: Name,
  description: string,
  verb: (scope: Scope<"config" | "db" | "viewer">, asked: MoveFiles) => Promise<{ count: number }>,
) {
  return defineMutation({
    name,
    description: `${description} A file whose name is taken there gets a number. Missing ones are skipped; returns how many existed.`,
    args: MoveFiles,
    value: FileCount,
    refusals: {
      not_found: "None of the files exists, or the caller may not see them, or is not a member of the space.",
      forbidden: "The caller may only read in one of the spaces.",
      too_large: "They would exceed the quota of the person, or of the space's owner.",
    },
    run: async (scope: Scope<"config" | "db" | "viewer">, asked) => (await verb(scope, asked)).count,
  })
}
