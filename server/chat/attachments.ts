import { buffer } from "node:stream/consumers"
import type { FilePart, TextPart, UserContent } from "ai"
import { and, eq } from "drizzle-orm"
import * as v from "valibot"
import { blobs, files } from "#db/schema/files.ts"
import { BadRequest, isRefusal } from "#server/errors.ts"
import { FileId } from "#server/files/contract.ts"
import { readStored, type Stored } from "#server/files/read-stored.ts"
import { decodeText } from "#server/files/text-contract.ts"
import type { Scope } from "#server/scope.ts"
import type { ByteRange } from "#server/transport/conditional.ts"
import { isInPlace } from "#server/spaces/access.ts"
import { estimateTokens, IMAGE_TOKENS } from "./tokens.ts"
import { shrinkForModel } from "./model-images.ts"
import type { DecodedFile } from "./posted-files.ts"
import {
  attachableAs,
  IMAGE_LIMIT,
  imageLimit,
  IMAGES_LIMIT,
  SHRUNK_SIZE,
  type Attachment,
} from "./contract.ts"

/** Characters of all text files in one request to the model. */
const TEXT_LIMIT = 100_000

/**
 * The present state of the files with these ids, stored with the message that they are attached to:
 * the viewer's own, or those of the conversation's space, so that everybody who reads the message
 * may open them. Throws BadRequest for another file and for one that the model cannot receive.
 */
export async function attachFiles(
  scope: Scope<"db" | "viewer">,
  fileIds: readonly string[],
  spaceId: string | null,
): Promise<Attachment[]> {
  const attachments: Attachment[] = []
  for (const fileId of new Set(fileIds)) {
    const file = await findFileIn(scope, fileId, spaceId)
    if (!file) throw new BadRequest("attachment-unknown")
    const { fileName, mimeType, size } = file
    attachments.push({ fileId, fileName, mimeType, size })
  }
  refuseUnfit(attachments)
  return attachments
}

/** Throws BadRequest if the model cannot receive one of the files of a message, or all together. */
export function refuseUnfit(attachments: readonly Omit<Attachment, "fileId">[]): void {
  for (const { fileName, mimeType, size } of attachments) {
    const kind = attachableAs(mimeType)
    if (kind === null) throw new BadRequest("attachment-unreadable", { fileName })
    if (kind === "image" && size > imageLimit(mimeType))
      throw new BadRequest("image-too-large", { fileName, megabytes: megabytes(imageLimit(mimeType)) })
  }
  const images = attachments.filter(({ mimeType }) => attachableAs(mimeType) === "image")
  if (images.reduce((sum, { size }) => sum + sizeForModel(size), 0) > IMAGES_LIMIT) {
    throw new BadRequest("images-too-large", { megabytes: megabytes(IMAGES_LIMIT) })
  }
}

/**
 * Converts a user's message for the model, with its files. Call it with the latest message first:
 * the budget goes to the latest files, and the model is only told the names of the others.
 * `tokensLeft` is what the model's context holds beside what has been read.
 */
export function createFileReader(
  scope: Scope<"db" | "blobs" | "log" | "thumbnailer" | "viewer">,
  spaceId: string | null,
  tokensLeft = () => Infinity,
) {
  let characters = TEXT_LIMIT
  let bytes = IMAGES_LIMIT

  return async (
    text: string,
    attachments: readonly (Attachment | DecodedFile)[] | null,
    { withoutImages = false }: { withoutImages?: boolean } = {},
  ): Promise<UserContent> => {
    if (!attachments || attachments.length === 0) return text
    const parts: (TextPart | FilePart)[] = text === "" ? [] : [{ type: "text", text }]
    let left = tokensLeft() - estimateTokens(text)
    for (const attachment of attachments) {
      const part = await read(attachment, withoutImages, left)
      left -= part.type === "text" ? estimateTokens(part.text) : IMAGE_TOKENS
      parts.push(part)
    }
    return parts
  }

  async function read(
    attachment: Attachment | DecodedFile,
    withoutImages: boolean,
    tokens: number,
  ): Promise<TextPart | FilePart> {
    const { fileId, fileName } = attachment
    const name = JSON.stringify(fileName)
    const file = "bytes" in attachment ? attachment : await findFileIn(scope, fileId, spaceId)
    const kind = file && attachableAs(file.mimeType)
    if (!file || !kind) return say(`[File ${name} was attached here, and is removed by now.]`)
    if (kind === "image" && withoutImages) return say(nameImage(fileName))
    if (tokens <= 0 || (kind === "text" ? characters <= 0 : sizeForModel(file.size) > bytes)) {
      return say(`[File ${name} was attached here. It does not fit into this request.]`)
    }
    if (kind === "image" && file.size > IMAGE_LIMIT) return readShrunk(file, name)
    // A UTF-16 unit takes three bytes at most.
    const content = await readIfWhole(file, kind === "text" ? head(characters * 3, file.size) : undefined)
    if (!content) return say(`[File ${name} was attached here. Its contents are lost.]`)
    if (kind === "image") {
      bytes -= file.size
      return {
        type: "file",
        mediaType: file.mimeType,
        filename: fileName,
        data: { type: "data", data: content },
      }
    }
    const whole = decodeText(content)
    const text = cutToTokens(whole.slice(0, characters), tokens).toWellFormed()
    characters -= text.length
    const extent = whole.length > text.length || content.length < file.size ? "The beginning of its" : "Its"
    // The file cannot contain the id in the last line, because it cannot know it.
    return say(
      `[File ${name}, ${file.mimeType}. ${extent} text follows, up to the line [End of ${fileId}].]\n${text}\n[End of ${fileId}]`,
    )
  }

  async function readShrunk(file: Stored | DecodedFile, name: string): Promise<TextPart | FilePart> {
    try {
      const load = async () => (await readIfWhole(file, undefined)) ?? new Uint8Array()
      const image = await shrinkForModel(scope.thumbnailer, file.sha256, load)
      if (image) {
        bytes -= image.byteLength
        return {
          type: "file",
          mediaType: "image/jpeg",
          filename: file.fileName,
          data: { type: "data", data: image },
        }
      }
    } catch (error) {
      scope.log.warn({ err: error, file: file.sha256 }, "could not make an image smaller for the model")
    }
    return say(`[Image ${name} was attached here. It is too large for you and could not be made smaller.]`)
  }

  /** Null if the store has lost or damaged the bytes: the conversation goes on without them. */
  async function readIfWhole(
    file: Stored | DecodedFile,
    range: ByteRange | undefined,
  ): Promise<Buffer | null> {
    if ("bytes" in file) return file.bytes.subarray(0, range && range.end + 1)
    try {
      return await buffer(await readStored(scope, file, range))
    } catch (error) {
      if (isRefusal(error)) return null
      throw error
    }
  }
}

/** What the model is told instead of an image that it cannot receive. */
export function nameImage(fileName: string): string {
  return `[Image ${JSON.stringify(fileName)} was attached here. You can't receive it.]`
}

function cutToTokens(text: string, tokens: number): string {
  const cost = estimateTokens(text)
  return cost <= tokens ? text : text.slice(0, Math.floor((text.length * tokens) / cost))
}

async function findFileIn(scope: Scope<"db" | "viewer">, fileId: string, spaceId: string | null) {
  if (!v.is(FileId, fileId)) return null
  const [file] = await scope.db
    .select({
      fileName: files.fileName,
      mimeType: files.mimeType,
      size: files.size,
      key: blobs.key,
      sha256: blobs.sha256,
    })
    .from(files)
    .innerJoin(blobs, eq(blobs._id, files.storageId))
    .where(
      and(isInPlace(scope, files, spaceId ?? undefined), eq(files.trashed, false), eq(files._id, fileId)),
    )
  return file ?? null
}

function head(limit: number, size: number) {
  return size === 0 ? undefined : { start: 0, end: Math.min(limit, size) - 1 }
}

function say(text: string): TextPart {
  return { type: "text", text }
}

function sizeForModel(size: number): number {
  return size > IMAGE_LIMIT ? SHRUNK_SIZE : size
}

function megabytes(bytes: number) {
  return bytes / 1024 / 1024
}
