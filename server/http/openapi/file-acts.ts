import * as v from "valibot"
import { ArchiveFiles, MoveFiles, SelectedFiles, SelectedTrash } from "#server/files/acts-contract.ts"
import { KINDS, ShareFile } from "#server/files/contract.ts"
import { record } from "#server/operations/contract.ts"
import {
  File,
  fileId,
  idempotencyKey,
  keyUsed,
  noSpace,
  notFound,
  ofFiles,
  reader,
  spaceId,
  unauthorized,
} from "./file-parts.ts"
import {
  binary,
  type Answer,
  idParameter,
  jsonAnswer,
  jsonBody,
  type Operation,
  pageParameters,
  type PathItem,
  refusal,
  schemaOf,
} from "./parts.ts"

const moment = v.pipe(v.number(), v.integer(), v.description("Milliseconds since the epoch."))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))

const Share = v.strictObject({
  ...record,
  fileId: v.pipe(v.string(), v.uuid()),
  hint: v.pipe(v.string(), v.description("The last four characters of the address.")),
  expiresAt: v.nullable(moment),
  maxDownloads: v.nullable(count),
  downloads: count,
  hasPassword: v.boolean(),
})

const trash: Operation = {
  ...ofFiles,
  operationId: "listTrash",
  summary: "What is in the trash, the last removed first",
  parameters: [spaceId, ...pageParameters],
  responses: {
    "200": jsonAnswer(
      "A page.",
      v.strictObject({
        files: v.array(v.strictObject({ ...File.entries, trashedAt: moment })),
        nextCursor: v.nullable(v.string()),
      }),
    ),
    "400": refusal("The cursor is not one that this list gave."),
    "401": unauthorized,
    "404": noSpace,
  },
}

const thumbnail: Operation = {
  ...ofFiles,
  operationId: "showThumbnail",
  summary: "A picture of an image, 256 pixels wide and high at most",
  parameters: [fileId],
  responses: {
    "200": { description: "The picture.", content: { "image/webp": { schema: binary } } },
    "304": { description: "The client has it." },
    "401": unauthorized,
    "404": notFound,
    "415": refusal("There is no picture of this file, and there will be none."),
    "503": refusal("There is none yet. Send again in a moment."),
  },
}

const shares: Operation = {
  ...ofFiles,
  operationId: "listShares",
  summary: "The links to a file, the newest first",
  parameters: [fileId],
  responses: {
    "200": jsonAnswer("The links.", v.strictObject({ shares: v.array(Share) })),
    "401": unauthorized,
    "404": notFound,
  },
}

const badSelection = refusal(
  "The body is not JSON, or names no files, or too many, or more match than allowed.",
)

const toPlace = {
  "400": badSelection,
  "401": unauthorized,
  "403": refusal("You may only read in one of the spaces."),
  "404": refusal("None of the files exists, or you may not see them, or there is no such space for you."),
  "413": refusal("The body is larger than 256 KB."),
  "507": refusal("They would exceed the quota of the person, or of the space's owner."),
}
const Placed = v.strictObject({
  count,
  files: v.optional(v.pipe(v.array(File), v.description("Only of files that were named by their ids."))),
})

const counting: Operation = {
  ...ofFiles,
  operationId: "countFiles",
  summary: "How many files match a search, and their bytes",
  description: "With `until` in an `all` of other requests, these are the files that they are about.",
  parameters: [
    spaceId,
    { name: "q", in: "query", description: "Words of a name.", schema: { type: "string", maxLength: 200 } },
    { name: "type", in: "query", schema: { type: "string", enum: [...KINDS] } },
    {
      name: "until",
      in: "query",
      description: "Only files that were added at this time or before, in milliseconds.",
      schema: { type: "integer" },
    },
  ],
  responses: {
    "200": jsonAnswer("The sums.", v.strictObject({ count, size: count, until: moment })),
    "400": refusal("A parameter is unknown, or makes no sense."),
    "401": unauthorized,
    "404": noSpace,
  },
}

const ofTrash = {
  "400": badSelection,
  "401": unauthorized,
  "403": reader,
  "404": noSpace,
  "413": refusal("The body is larger than 256 KB."),
}

/** Operations on stored files: the trash, share links, thumbnails, and zips. */
export const fileActsPaths: Record<string, PathItem> = {
  "/api/files/count": {
    get: counting,
    head: { ...counting, operationId: "probeCount", responses: withoutContent(counting.responses) },
  },
  "/api/files/trash": {
    get: trash,
    head: { ...trash, operationId: "probeTrash", responses: withoutContent(trash.responses) },
    post: {
      ...ofFiles,
      operationId: "trashFiles",
      summary: "Move several files to the trash, or all that match",
      description: "In one transaction. Missing files are skipped.",
      requestBody: jsonBody(SelectedFiles),
      responses: {
        "200": jsonAnswer(
          "How many files that were. With `trashedAt` they can be restored together.",
          v.strictObject({ count, trashedAt: moment }),
        ),
        ...ofTrash,
      },
    },
    delete: {
      ...ofFiles,
      operationId: "emptyTrash",
      summary: "Remove for ever what is in the trash",
      parameters: [spaceId],
      responses: {
        "200": jsonAnswer("How many files that were.", v.strictObject({ purged: count })),
        "401": unauthorized,
        "403": refusal("You may only read in the space."),
        "404": noSpace,
      },
    },
  },
  "/api/files/restore": {
    post: {
      ...ofFiles,
      operationId: "restoreFiles",
      summary: "Take several files out of the trash, or all that match",
      description: "In one transaction. Missing files are skipped, and names that are taken get a number.",
      requestBody: jsonBody(SelectedTrash),
      responses: { "200": jsonAnswer("How many files that were.", v.strictObject({ count })), ...ofTrash },
    },
  },
  "/api/files/purge": {
    post: {
      ...ofFiles,
      operationId: "purgeFiles",
      summary: "Remove several files for ever, or all that match in the trash",
      description: "In one transaction. Missing files are skipped.",
      requestBody: jsonBody(SelectedTrash),
      responses: { "200": jsonAnswer("How many files that were.", v.strictObject({ count })), ...ofTrash },
    },
  },
  "/api/files/move": {
    post: {
      ...ofFiles,
      operationId: "moveFiles",
      summary: "Move files into a space, or out of one",
      description:
        "Without `spaceId` to what is personal to you. Missing files are skipped, names that are taken there get a number, and links that others created end.",
      requestBody: jsonBody(MoveFiles),
      responses: { "200": jsonAnswer("The files that are there now.", Placed), ...toPlace },
    },
  },
  "/api/files/copy": {
    post: {
      ...ofFiles,
      operationId: "copyFiles",
      summary: "Copy files into a space, or out of one",
      description:
        "Without `spaceId` to what is personal to you. Missing files are skipped, and names that are taken there get a number.",
      parameters: [idempotencyKey],
      requestBody: jsonBody(MoveFiles),
      responses: {
        "201": jsonAnswer("The copies.", Placed),
        ...toPlace,
        "409": refusal("A request with this Idempotency-Key is still in progress."),
        "422": refusal(keyUsed),
      },
    },
  },
  "/api/files/archive": {
    post: {
      ...ofFiles,
      operationId: "downloadArchive",
      summary: "Several files, or all, as one zip",
      description:
        "As JSON, or as a form in which `ids` stands once for each file, or `all` beside the fields of what matches.",
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: schemaOf(ArchiveFiles) },
          "application/x-www-form-urlencoded": { schema: { type: "object" } },
        },
      },
      responses: {
        "200": { description: "The zip.", content: { "application/zip": { schema: binary } } },
        "400": refusal("The body names no files, or too many."),
        "401": unauthorized,
        "404": notFound,
        "413": refusal("The body is larger than 256 KB."),
      },
    },
  },
  "/api/files/shares/{shareId}": {
    delete: {
      ...ofFiles,
      operationId: "revokeShare",
      summary: "Revoke a link",
      parameters: [idParameter("shareId")],
      responses: {
        "204": { description: "It leads nowhere from now on." },
        "401": unauthorized,
        "403": reader,
        "404": refusal("There is no such link, or you may not see it."),
      },
    },
  },
  "/api/files/{fileId}/restore": {
    post: {
      ...ofFiles,
      operationId: "restoreFile",
      summary: "Take a file out of the trash",
      parameters: [fileId],
      responses: {
        "200": jsonAnswer("The file, perhaps under another name.", v.strictObject({ file: File })),
        "401": unauthorized,
        "403": reader,
        "404": notFound,
      },
    },
  },
  "/api/files/{fileId}/shares": {
    get: shares,
    head: { ...shares, operationId: "probeShares", responses: withoutContent(shares.responses) },
    post: {
      ...ofFiles,
      operationId: "shareFile",
      summary: "Make a public link to a file",
      parameters: [fileId, idempotencyKey],
      requestBody: jsonBody(ShareFile),
      responses: {
        "201": jsonAnswer(
          "The link. Its address is shown here, and again only to a request with the same Idempotency-Key.",
          v.strictObject({ share: Share, url: v.pipe(v.string(), v.url()) }),
        ),
        "400": refusal("The body is not JSON, or a limit makes no sense."),
        "401": unauthorized,
        "403": reader,
        "404": notFound,
        "409": refusal(
          "The file has as many links as it can have, or a request with this Idempotency-Key is still in progress.",
        ),
        "413": refusal("The body is larger than 256 KB."),
        "422": refusal(keyUsed),
      },
    },
  },
  "/api/files/{fileId}/thumbnail": {
    get: thumbnail,
    head: { ...thumbnail, operationId: "probeThumbnail", responses: withoutContent(thumbnail.responses) },
  },
}

function withoutContent(responses: Record<string, Answer>) {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { content: _none, ...answer }]) => [status, answer]),
  )
}
