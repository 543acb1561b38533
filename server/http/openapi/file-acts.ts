import { ArchiveFiles } from "#server/files/acts-contract.ts"
import { fileId, notFound, ofFiles, unauthorized } from "./file-parts.ts"
import { binary, type Operation, type PathItem, refusal, schemaOf, withoutContent } from "./parts.ts"

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

/** Thumbnails and zips. */
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
  "/api/files/{fileId}/thumbnail": {
    get: thumbnail,
    head: { ...thumbnail, operationId: "probeThumbnail", responses: withoutContent(thumbnail.responses) },
  },
}
