import { fileTypeFromBuffer } from "file-type"
import { splitName } from "./contract.ts"
import { detectEncoding } from "./text-contract.ts"

/** Bytes from the beginning that are enough to detect a type. */
export const SAMPLE_SIZE = 4100

/**
 * The type detected from the bytes. `fileName` only chooses among kinds of text, which have no
 * signature; all of them except plain text are downloaded, never displayed.
 */
export async function detectType(sample: Uint8Array, fileName: string): Promise<string> {
  const detected = await fileTypeFromBuffer(sample)
  if (detected) return detected.mime.split(";", 1)[0] ?? UNKNOWN
  if (detectEncoding(sample) === null) return UNKNOWN
  return TEXT_TYPES.get(splitName(fileName).extension.toLowerCase()) ?? "text/plain"
}

export const UNKNOWN = "application/octet-stream"

const TEXT_TYPES = new Map([
  [".csv", "text/csv"],
  [".css", "text/css"],
  [".htm", "text/html"],
  [".html", "text/html"],
  [".js", "text/javascript"],
  [".json", "application/json"],
  [".md", "text/markdown"],
  [".mjs", "text/javascript"],
  [".svg", "image/svg+xml"],
  [".xhtml", "application/xhtml+xml"],
  [".xml", "application/xml"],
])
