import * as v from "valibot"
import { ArchiveFiles } from "#server/files/acts-contract.ts"
import { ShareFile } from "#server/files/contract.ts"
import { record } from "#server/operations/contract.ts"
import { fileId, idempotencyKey, keyUsed, notFound, ofFiles, reader, unauthorized } from "./file-parts.ts"
import {
  binary,
  idParameter,
  jsonAnswer,
  jsonBody,
  type Operation,
  type PathItem,
  refusal,
  schemaOf,
  withoutContent,
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

/** Share links, thumbnails and zips. */
export const fileActsPaths: Record<string, PathItem> = {
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
