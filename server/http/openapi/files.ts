import * as v from "valibot"
import { FileRow } from "#server/files/contract.ts"
import {
  fileId,
  idempotencyKey,
  keyUsed,
  noSpace,
  notFound,
  ofFiles,
  spaceId,
  unauthorized,
} from "./file-parts.ts"
import {
  binary,
  type Answer,
  jsonAnswer,
  type Operation,
  type PathItem,
  refusal,
  withoutContent,
} from "./parts.ts"

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
}

function fileHeaders(): NonNullable<Answer["headers"]> {
  const text = { type: "string", minLength: 1 }
  return {
    ETag: { required: true, schema: text },
    "Content-Disposition": { required: true, schema: text },
    "Accept-Ranges": { required: true, schema: { const: "bytes" } },
  }
}
