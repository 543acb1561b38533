import { idempotencyKey, keyUsed, ofFiles, spaceId, unauthorized } from "./files.ts"
import {
  type Answer,
  binary,
  idParameter,
  type Operation,
  type PathItem,
  refusal,
  withoutContent,
} from "./parts.ts"

type Headers = NonNullable<Answer["headers"]>

const count = { type: "string", pattern: "^(0|[1-9]\\d*)$" }
const version = { type: "string", const: "1.0.0" }

const tusVersion: Headers = { "Tus-Resumable": { required: true, schema: version } }
const offset: Headers = {
  "Upload-Offset": { required: true, description: "Bytes that are stored durably.", schema: count },
}
const ends: Headers = {
  "Upload-Expires": { description: "Until when the next byte is waited for.", schema: { type: "string" } },
  "Tideline-File-Id": {
    description: "The file, once all bytes are there.",
    schema: { type: "string", format: "uuid" },
  },
}

const speaksTus = { name: "Tus-Resumable", in: "header", required: true, schema: version }
const part = { "application/offset+octet-stream": { schema: binary } }

const refusals = {
  "400": tusRefusal(
    "A header is missing or not as tus has it, there is no file name, or the body broke off.",
  ),
  // The guard's, which does not know tus.
  "401": unauthorized,
  "403": refusal("The request is another site's, or you may only read in the space."),
  "412": tusRefusal("The version of tus is another.", {
    "Tus-Version": { required: true, schema: version },
  }),
}
const ofUpload = {
  ...refusals,
  "404": tusRefusal("There is no such upload, it is not yours, or you are no longer a member of its space."),
  "410": tusRefusal("The upload was removed, or waited too long."),
  "423": tusRefusal("Another request is at this upload."),
}
const ofBytes = {
  "408": tusRefusal("No bytes came for a minute."),
  "413": tusRefusal("The file is larger than allowed, or the body goes past the length that was announced."),
  "507": tusRefusal("It would exceed the quota, or the disk is full."),
}

const abilities = (id: string): Operation => ({
  ...ofFiles,
  operationId: id,
  summary: "What is understood of tus",
  responses: {
    "204": {
      description: "Versions, extensions and the largest file.",
      headers: {
        "Tus-Version": { required: true, schema: version },
        "Tus-Extension": { required: true, schema: { type: "string" } },
        "Tus-Max-Size": { required: true, schema: count },
      },
    },
    "401": refusals["401"],
  },
})

const uploadId = idParameter("uploadId")

export const fileUploadsPaths: Record<string, PathItem> = {
  "/api/files/uploads": {
    options: { ...abilities("describeUploads"), parameters: [spaceId] },
    post: {
      ...ofFiles,
      operationId: "createUpload",
      summary: "Begin an upload that can be interrupted",
      description: "tus 1.0: https://tus.io/protocols/resumable-upload. The body may be the first bytes.",
      parameters: [
        speaksTus,
        spaceId,
        idempotencyKey,
        { name: "Upload-Length", in: "header", required: true, description: "Bytes.", schema: count },
        {
          name: "Upload-Metadata",
          in: "header",
          required: true,
          description: "Pairs of a key and a value in Base64; `filename` is the file's name.",
          schema: { type: "string", maxLength: 8192 },
        },
      ],
      requestBody: { required: false, content: part },
      responses: {
        ...refusals,
        ...ofBytes,
        "201": {
          description: "It is made, and what came with it is stored.",
          headers: {
            ...tusVersion,
            ...offset,
            ...ends,
            Location: { required: true, description: "Its path.", schema: { type: "string" } },
          },
        },
        "404": tusRefusal("There is no such space, or you are not a member of it."),
        "409": tusRefusal("A request with this Idempotency-Key is still in progress."),
        "422": tusRefusal(keyUsed),
        "429": tusRefusal("Too many uploads are under way."),
      },
    },
  },
  "/api/files/uploads/{uploadId}": {
    options: { ...abilities("describeUpload"), parameters: [uploadId] },
    head: {
      ...ofFiles,
      operationId: "probeUpload",
      summary: "How far an upload is",
      parameters: [uploadId, speaksTus],
      responses: {
        ...withoutContent(ofUpload),
        "200": {
          description: "So far.",
          headers: {
            ...tusVersion,
            ...offset,
            ...ends,
            "Upload-Length": { required: true, schema: count },
            "Upload-Metadata": { required: true, schema: { type: "string" } },
          },
        },
      },
    },
    patch: {
      ...ofFiles,
      operationId: "continueUpload",
      summary: "Send the next bytes",
      parameters: [
        uploadId,
        speaksTus,
        { name: "Upload-Offset", in: "header", required: true, schema: count },
      ],
      requestBody: { required: true, content: part },
      responses: {
        ...ofUpload,
        ...ofBytes,
        "204": { description: "They are stored.", headers: { ...tusVersion, ...offset, ...ends } },
        "409": tusRefusal("The upload ends elsewhere."),
        "415": tusRefusal("The body is of another type than application/offset+octet-stream."),
      },
    },
    delete: {
      ...ofFiles,
      operationId: "cancelUpload",
      summary: "Give an upload up",
      parameters: [uploadId, speaksTus],
      responses: {
        ...ofUpload,
        "204": { description: "The space it reserved is free again.", headers: tusVersion },
        "409": tusRefusal("It is a file already."),
      },
    },
  },
}

function tusRefusal(description: string, headers: Headers = {}): Answer {
  return refusal(description, { ...tusVersion, ...headers })
}
