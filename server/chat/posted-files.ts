import { createHash } from "node:crypto"
import { setImmediate as afterOthers } from "node:timers/promises"
import type { FileUIPart } from "ai"
import { BadRequest } from "#server/errors.ts"
import { cleanFileName } from "#server/files/names.ts"
import { detectType, SAMPLE_SIZE } from "#server/files/types.ts"
import type { Attachment } from "./contract.ts"

/** A file whose bytes are in the message. */
export interface PostedFile {
  fileName: string
  base64: string
}

/** The same as an attachment. Its id names nothing. */
export interface DecodedFile extends Attachment {
  sha256: string
  bytes: Buffer
}

/** A part of the AI SDK's type `file`. Throws BadRequest unless its URL has the file itself. */
export function readFilePart({ filename, mediaType, url }: FileUIPart): PostedFile {
  const fileName = cleanFileName(filename ?? nameOf(mediaType))
  const start = /^data:[^,]{0,200};base64,/i.exec(url.slice(0, 300))?.[0]
  if (start === undefined) throw notEncoded(fileName)
  return { fileName, base64: url.slice(start.length).replace(/={1,2}$/, "") }
}

/** Throws BadRequest for what is not base64. */
export async function decodeFile({ fileName, base64 }: PostedFile): Promise<DecodedFile> {
  const bytes = Buffer.alloc(Math.floor((base64.length * 3) / 4))
  const hash = createHash("sha256")
  let size = 0
  for (let at = 0; at < base64.length; at += SLICE) {
    const slice = base64.slice(at, at + SLICE)
    if (!/^[A-Za-z0-9+/]*$/.test(slice)) throw notEncoded(fileName)
    const written = bytes.write(slice, size, "base64")
    hash.update(bytes.subarray(size, size + written))
    size += written
    await afterOthers()
  }
  const mimeType = await detectType(bytes.subarray(0, SAMPLE_SIZE), fileName)
  return { fileId: crypto.randomUUID(), fileName, mimeType, size, sha256: hash.digest("hex"), bytes }
}

/** Characters that are decoded before others have their turn. Four of them are three bytes. */
const SLICE = 1024 * 1024

/** `image.png`, because models and people read the name. */
function nameOf(mediaType: string): string {
  const [kind = "", subtype = ""] = mediaType.split("/", 2)
  return kind === "text" ? "text.txt" : `${kind || "file"}.${subtype || "bin"}`
}

function notEncoded(fileName: string) {
  return new BadRequest("file-not-encoded", { fileName })
}
