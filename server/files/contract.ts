import * as v from "valibot"
import type { File } from "#db/schema/files.ts"
import type { MutationType } from "#server/realtime/contract.ts"

/** What a list shows of a file. */
export type FileSummary = Pick<File, "_id" | "_creationTime" | "fileName" | "mimeType" | "size">

export interface FilePage {
  files: FileSummary[]
  /** Asks for the files after these; null where there are none. */
  nextCursor: string | null
}

/** Bytes. */
export interface FileUsage {
  /** What the files take, and what running uploads hold. */
  used: number
  quota: number
}

export const SORTS = ["newest", "oldest", "name", "largest"] as const
export type Sort = (typeof SORTS)[number]

/** Names end here in most file systems, so a longer one could not be saved by whoever downloads the file. */
export const FILE_NAME_LIMIT = 255

export const FileId = v.pipe(v.string(), v.uuid())

const NAMELESS = "Give the file a name."

export const RenameFile = v.object(
  {
    fileName: v.pipe(
      v.string(NAMELESS),
      v.trim(),
      v.nonEmpty(NAMELESS),
      v.check((name) => !/[/\\]/.test(name), "A file name cannot contain / or \\."),
      v.check(
        (name) => new TextEncoder().encode(name).byteLength <= FILE_NAME_LIMIT,
        `A file name can take ${FILE_NAME_LIMIT} bytes at most.`,
      ),
    ),
  },
  NAMELESS,
)
export type RenameFile = v.InferOutput<typeof RenameFile>

/** What may be called by name over the socket. */
export const fileCalls: {
  rename: MutationType<"files.rename", { fileId: string; fileName: string }, FileSummary>
  remove: MutationType<"files.remove", { fileId: string }, void>
} = { rename: { name: "files.rename" }, remove: { name: "files.remove" } }

/** The query of a list. What cannot be understood is read as if it were not there. */
export const ListFiles = v.object({
  q: v.fallback(v.optional(v.pipe(v.string(), v.transform(searchable), v.maxLength(200)), ""), ""),
  sort: v.fallback(v.optional(v.picklist(SORTS), "newest"), "newest"),
  cursor: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(2000))), undefined),
  limit: v.fallback(
    v.optional(v.pipe(v.string(), v.toNumber(), v.integer(), v.minValue(1), v.maxValue(100)), "50"),
    50,
  ),
})
export type ListFiles = v.InferOutput<typeof ListFiles>

/** Names are kept composed and without control characters, so that is how they are looked for. */
function searchable(text: string): string {
  return text
    .toWellFormed()
    .normalize("NFC")
    .replace(/\p{Cc}/gu, "")
    .trim()
}

/** `report.final.pdf` is `report.final` and `.pdf`; `archive.tar.gz` keeps both its endings; `.env` has none. */
export function splitName(fileName: string): { stem: string; extension: string } {
  const extension = /(?<=[^.])(\.tar)?\.(?=\p{N}*\p{L})[\p{L}\p{N}]{1,16}$/u.exec(fileName)?.[0] ?? ""
  return { stem: fileName.slice(0, fileName.length - extension.length), extension }
}

/** Whether a browser may show the type in place. Anything else could run script in the name of whoever serves it. */
export function isShownInline(mimeType: string): boolean {
  return INLINE_TYPES.has(mimeType)
}

const INLINE_TYPES = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "image/gif",
  "image/avif",
  "application/pdf",
  "video/mp4",
  "video/webm",
  "audio/mpeg",
  "audio/ogg",
  "text/plain",
])

/** `1.5 MB`, in units of a thousand. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ["kB", "MB", "GB", "TB", "PB"]
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length)
  const amount = bytes / 1000 ** power
  return `${amount < 99.95 ? Number(amount.toFixed(1)) : Math.round(amount)} ${units[power - 1]}`
}
