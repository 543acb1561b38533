import * as v from "valibot"
import { KINDS, RenameFile, SORTS } from "#server/files/contract.ts"
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
  jsonAnswer,
  jsonBody,
  type Operation,
  pageParameters,
  type PathItem,
  refusal,
  everywhere,
} from "./parts.ts"

const bytes = { schema: binary }

const download: Operation = {
  ...ofFiles,
  operationId: "downloadFile",
  summary: "A file's bytes, or a range of them",
  parameters: [
    fileId,
    { name: "download", in: "query", description: "Present: to be saved, not shown.", schema: {} },
  ],
  responses: {
    "200": { description: "The bytes.", headers: fileHeaders(), content: { "*/*": bytes } },
    "206": { description: "The range.", headers: fileHeaders(), content: { "*/*": bytes } },
    "304": { description: "The client has them." },
    "401": unauthorized,
    "404": notFound,
    "412": refusal("`If-Match` or `If-Unmodified-Since` is about other bytes."),
    "416": refusal("The range lies outside the file."),
  },
}

export const filesPaths: Record<string, PathItem> = {
  "/api/files": {
    get: {
      ...ofFiles,
      operationId: "listFiles",
      summary: "Your files, or those in a space",
      parameters: [
        {
          name: "q",
          in: "query",
          description: "Words, each a part of the name, without regard to capitals and accents.",
          schema: { type: "string", maxLength: 200 },
        },
        spaceId,
        everywhere,
        { name: "sort", in: "query", schema: { enum: SORTS, default: "newest" } },
        { name: "type", in: "query", schema: { enum: KINDS } },
        ...pageParameters,
      ],
      responses: {
        "200": jsonAnswer(
          "A page.",
          v.strictObject({ files: v.array(File), nextCursor: v.nullable(v.string()) }),
        ),
        "400": refusal("The cursor is not one that this list gave."),
        "401": unauthorized,
        "404": noSpace,
      },
    },
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
        "201": jsonAnswer("They are stored.", v.strictObject({ files: v.array(File) })),
        "400": refusal("There is no file in it, or it ended early."),
        "401": unauthorized,
        "403": refusal("You may only read in the space."),
        "404": noSpace,
        "409": refusal(
          "The upload timed out and its reserved space was released, or a request with its Idempotency-Key is still in progress.",
        ),
        "413": refusal("A file is larger than allowed."),
        "422": refusal(keyUsed),
        "507": refusal("The plan, the plan of the space's owner, or the disk, has no room for it."),
      },
    },
  },
  "/api/files/{fileId}": {
    get: download,
    head: { ...download, operationId: "probeFile", responses: headOf(download.responses) },
    patch: {
      ...ofFiles,
      operationId: "renameFile",
      summary: "Give a file another name",
      parameters: [fileId],
      requestBody: jsonBody(RenameFile),
      responses: {
        "200": jsonAnswer("The file.", v.strictObject({ file: File })),
        "400": refusal("The body is not JSON, or not a name."),
        "401": unauthorized,
        "403": reader,
        "404": notFound,
        "409": refusal("Another file has the name."),
        "413": refusal("The body is larger than 256 KB."),
      },
    },
    delete: {
      ...ofFiles,
      operationId: "removeFile",
      summary: "Remove a file",
      parameters: [
        fileId,
        {
          name: "permanently",
          in: "query",
          description: "1: for ever, whether it is in the trash or not. Otherwise it goes into the trash.",
          schema: { enum: ["1"] },
        },
      ],
      responses: {
        "204": { description: "It is removed." },
        "401": unauthorized,
        "403": reader,
        "404": notFound,
      },
    },
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

function headOf(responses: Record<string, Answer>) {
  return Object.fromEntries(
    Object.entries(responses)
      .filter(([status]) => status !== "206" && status !== "416")
      .map(([status, { content: _none, ...answer }]) => [status, answer]),
  )
}
