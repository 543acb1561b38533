import * as v from "valibot"
import { ArchiveFiles } from "#server/files/acts-contract.ts"
import { FileRow } from "#server/files/contract.ts"
import {
  binary,
  type Answer,
  idParameter,
  jsonAnswer,
  type Operation,
  type PathItem,
  refusal,
  schemaOf,
  SIGNED_IN,
  withoutContent,
} from "./parts.ts"

export const ofFiles = { tags: ["Files"], security: SIGNED_IN }
const fileId = idParameter("fileId")
export const unauthorized = refusal("Nobody is signed in.")
const notFound = refusal("There is no such file, or you may not see it.")
const noSpace = refusal("There is no such space, or you are not a member of it.")
export const spaceId = {
  name: "spaceId",
  in: "query",
  description: "The space. What is personal to you without it.",
  schema: { type: "string", format: "uuid" },
}

/** The header with which a request that is sent again creates nothing more. */
export const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A text of your choice, such as a UUID. A request that is sent again with it within a day gets the response of the first and creates nothing more.",
  schema: { type: "string", maxLength: 257 },
}
export const keyUsed = "The Idempotency-Key was sent with another request."

const bytes = { schema: binary }

const probe: Operation = {
  ...ofFiles,
  operationId: "probeFile",
  summary: "A file's bytes, or a range of them",
  parameters: [
    fileId,
    { name: "download", in: "query", description: "Present: to be saved, not shown.", schema: {} },
  ],
  responses: {
    "200": { description: "The bytes.", headers: fileHeaders(), content: { "*/*": bytes } },
    "304": { description: "The client has them." },
    "401": unauthorized,
    "404": notFound,
    "412": refusal("`If-Match` or `If-Unmodified-Since` is about other bytes."),
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

export const filesPaths: Record<string, PathItem> = {
  "/api/files": {
    post: {
      ...ofFiles,
      operationId: "uploadFiles",
      summary: "Store files",
      description: "Either a form with files, or one file as the body with its name in the query.",
      parameters: [
        {
          name: "name",
          in: "query",
          description: "The file's name, where it is the body.",
          schema: { type: "string" },
        },
        {
          name: "lastModified",
          in: "query",
          description:
            "When the file was modified, in milliseconds since the epoch, where it is the body. In a form, a field of this name before the file.",
          schema: { type: "integer" },
        },
        spaceId,
        idempotencyKey,
      ],
      requestBody: {
        required: true,
        content: {
          "multipart/form-data": {
            schema: { type: "object", additionalProperties: { type: "array", items: bytes.schema } },
          },
          "*/*": bytes,
        },
      },
      responses: {
        "201": jsonAnswer("They are stored.", v.strictObject({ files: v.array(FileRow) })),
        "400": refusal("There is no file in it, or it ended early."),
        "401": unauthorized,
        "403": refusal("You may only read in the space."),
        "404": noSpace,
        "409": refusal(
          "The upload timed out and its reserved space was released, or a request with its Idempotency-Key is still in progress.",
        ),
        "413": refusal("A file is larger than allowed."),
        "422": refusal(keyUsed),
        "507": refusal(
          "It would exceed the quota of the person or of the space's owner, or the disk is full.",
        ),
      },
    },
  },
  "/api/files/{fileId}": {
    get: {
      ...probe,
      operationId: "downloadFile",
      responses: {
        ...probe.responses,
        "206": { description: "The range.", headers: fileHeaders(), content: { "*/*": bytes } },
        "416": refusal("The range lies outside the file."),
      },
    },
    head: { ...probe, responses: withoutContent(probe.responses) },
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
  "/api/files/{fileId}/thumbnail": {
    get: thumbnail,
    head: { ...thumbnail, operationId: "probeThumbnail", responses: withoutContent(thumbnail.responses) },
  },
}

function fileHeaders(): NonNullable<Answer["headers"]> {
  const text = { type: "string", minLength: 1 }
  return {
    ETag: { required: true, schema: text },
    "Content-Disposition": { required: true, schema: text },
    "Accept-Ranges": { required: true, schema: { const: "bytes" } },
  }
}
