import * as v from "valibot"
import type { Viewer } from "#server/scope.ts"
import { InSpace, SpaceId } from "#server/spaces/place-contract.ts"
import { isMember, membershipOf, ofPlace, placeOf } from "#server/spaces/live-access.ts"
import { defineChannel, defineLiveQuery } from "#live/open"
import { watchedFileRevisions, watchedFiles, watchedShares, watchedUsage } from "#db/schema/files.ts"
import { FileId, FileRow, ShareRow, TrashedRow } from "./contract.ts"
import { fileUploadsChannel, Uploading } from "./upload-progress-contract.ts"
import { summaryOf } from "./list.ts"
import { shareSummary } from "./shares.ts"

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
