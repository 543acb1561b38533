import * as v from "valibot"
import { linkLimits, linkRow } from "#server/links/contract.ts"
import { record } from "#server/operations/contract.ts"
import { PageCursor, PageLength } from "#server/page-contract.ts"
import { reason } from "#server/reason-contract.ts"
import type { File, FileShare } from "#db/schema/files.ts"
import type { PlanLimits } from "#server/plans/contract.ts"
import type { LiveRow } from "#live/contract"
import { Everywhere, InNamedSpace } from "#server/spaces/place-contract.ts"

/** A file as lists show it. */
export const FileRow = v.strictObject({
  ...record,
  fileName: v.string(),
  mimeType: v.string(),
  size: v.pipe(v.number(), v.integer(), v.minValue(0), v.description("Bytes.")),
  userId: v.optional(v.pipe(v.string(), v.uuid(), v.description("Who added it, if it is in a space."))),
  spaceId: v.optional(v.pipe(v.string(), v.uuid(), v.description("Only of a file in a space."))),
  modifiedAt: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.description("When its bytes were last changed, if the sender said it. Milliseconds since the epoch."),
    ),
  ),
})
export type FileSummary = v.InferOutput<typeof FileRow>

/** A page of a list. `nextCursor` is null at its end. */
export const FilePage = v.strictObject({ files: v.array(FileRow), nextCursor: v.nullable(v.string()) })
export type FilePage = v.InferOutput<typeof FilePage>

export const TrashedRow = v.strictObject({
  ...FileRow.entries,
  trashedAt: v.pipe(
    v.number(),
    v.integer(),
    v.description("When it was moved to the trash. Milliseconds since the epoch."),
  ),
})
export type TrashedFile = v.InferOutput<typeof TrashedRow>

/**
 * What a link's visitor sees: who shares, and the file, if it has no password or the visitor has
 * entered it.
 */
export interface SharedFile {
  /** The name in their profile. */
  sharedBy: string | null
  file:
    | (Pick<File, "fileName" | "mimeType" | "size"> &
        Pick<FileShare, "expiresAt"> & {
          /** Null for a type that browsers do not show, and for a link that counts its downloads down. */
          preview: SharedPreview | null
        })
    | null
}

/** What the page of a link shows of the file: text it brings itself, the rest is at a URL. */
export type SharedPreview =
  | { kind: "image" | "video" | "audio" | "pdf" }
  | { kind: "text"; text: string; isWhole: boolean }

/** Bytes. */
export interface FileUsage {
  /** What all files take, including the trash, and what uploads in progress have reserved. */
  used: number
  /** The trash's part of it. */
  trashed: number
  quota: number
  /** How many files there are, including those in the trash. */
  files: number
  mostFiles: number
}

/** The sums in the database, in bytes. There are none before the first upload. */
export interface StoredUsage extends LiveRow {
  used: number
  /** Reserved for uploads in progress. */
  reserved: number
  trashed: number
  /** How many files there are, including those in the trash. */
  files: number
  /** Increases with every change of the viewer's files. */
  revision: number
}

export function usageOf(
  stored: Omit<StoredUsage, "_id" | "revision"> | undefined,
  { quota, files: mostFiles }: Pick<PlanLimits, "quota" | "files">,
): FileUsage {
  const { used = 0, reserved = 0, trashed = 0, files = 0 } = stored ?? {}
  return { used: used + reserved, trashed, quota, files, mostFiles }
}

export const SORTS = [
  "newest",
  "oldest",
  "modified",
  "modified-oldest",
  "name",
  "name-desc",
  "largest",
  "smallest",
] as const
export type Sort = (typeof SORTS)[number]

/**
 * The filters of a list. Types are regular expressions that JavaScript and PostgreSQL interpret
 * alike; `other` is everything else.
 */
export const KIND_PATTERNS = {
  image: "^image/",
  video: "^video/",
  audio: "^audio/",
  document:
    "^application/(pdf|rtf|epub\\+zip|x-cfb|vnd\\.(ms-(excel|word|powerpoint)|oasis\\.opendocument|openxmlformats-officedocument|apple\\.(keynote|numbers|pages)).*)$",
  text: "^(text/|application/(json|xml|xhtml\\+xml)$)",
  archive:
    "^application/(zip|gzip|lzip|zstd|x-(7z-compressed|bzip2|compress|cpio|lz4|rar-compressed|tar|xz))$",
} as const
export const KINDS = ["image", "video", "audio", "document", "text", "archive", "other"] as const
export type Kind = (typeof KINDS)[number]

export function kindOf(mimeType: string): Kind {
  return KINDS.find((kind) => kind !== "other" && new RegExp(KIND_PATTERNS[kind]).test(mimeType)) ?? "other"
}

/** Most file systems allow no more, so people could not save a download with a longer name. */
export const FILE_NAME_LIMIT = 255

export const FileId = v.pipe(v.string(), v.uuid())

/** A link as its owner sees it. */
export const ShareRow = v.strictObject({
  ...linkRow,
  fileId: FileId,
  maxDownloads: v.pipe(
    v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0))),
    v.description("Null without a limit."),
  ),
  downloads: v.pipe(v.number(), v.integer(), v.minValue(0)),
})
export type ShareSummary = v.InferOutput<typeof ShareRow>

const NAMELESS = reason("file-name-missing")

export const RenameFile = v.strictObject(
  {
    fileName: v.pipe(
      v.string(NAMELESS),
      v.trim(),
      v.nonEmpty(NAMELESS),
      v.check((name) => !/[/\\]/.test(name), reason("file-name-with-slash")),
      v.check(
        (name) => new TextEncoder().encode(name).byteLength <= FILE_NAME_LIMIT,
        reason("file-name-too-long", { most: FILE_NAME_LIMIT }),
      ),
    ),
  },
  NAMELESS,
)
export type RenameFile = v.InferOutput<typeof RenameFile>

const DOWNLOADS_RANGE = reason("link-downloads-unfit")

/** A link's limits. A missing or null value is no limit. */
export const ShareFile = v.strictObject({
  ...linkLimits,
  maxDownloads: v.nullish(
    v.pipe(
      v.number(DOWNLOADS_RANGE),
      v.integer(DOWNLOADS_RANGE),
      v.minValue(1, DOWNLOADS_RANGE),
      v.maxValue(1_000_000, DOWNLOADS_RANGE),
    ),
  ),
})
export type ShareFile = v.InferOutput<typeof ShareFile>

/** Which place a call is about. */
export const Place = v.strictObject({ spaceId: InNamedSpace })
export type Place = v.InferOutput<typeof Place>

/** The place that a request's query names. */
export function placeOf({ url }: Pick<Request, "url">): Place {
  return { spaceId: new URL(url).searchParams.get("spaceId") ?? undefined }
}

/** The query of an upload in one request. The name and the time are those of a file that is the body. */
export const UploadQuery = v.strictObject({
  ...Place.entries,
  name: v.optional(v.string()),
  lastModified: v.optional(v.string()),
})

/** The query of a download. */
export const DownloadQuery = v.strictObject({
  download: v.optional(v.pipe(v.string(), v.description("Present: to be saved, not shown."))),
})

/** The query of a deletion. */
export const RemoveQuery = v.strictObject({
  permanently: v.optional(
    v.pipe(
      v.picklist(["1"]),
      v.description("1: for ever, whether it is in the trash or not. Otherwise it goes into the trash."),
      v.metadata({ parameter: { enum: ["1"] } }),
    ),
  ),
})

/** Characters of a search. */
export const FILE_SEARCH_LIMIT = 200

/** Part of a name, as lists are searched for it. */
export const SearchText = v.pipe(
  v.string(),
  v.transform(searchable),
  v.maxLength(FILE_SEARCH_LIMIT, reason("search-too-long", { most: FILE_SEARCH_LIMIT })),
  v.description("Words, each a part of the name, without regard to capitals and accents."),
  v.metadata({ parameter: { type: "string", maxLength: FILE_SEARCH_LIMIT } }),
)

/** The query of a list. */
export const ListFiles = v.strictObject({
  q: v.optional(SearchText, ""),
  ...Place.entries,
  everywhere: Everywhere,
  sort: v.optional(v.picklist(SORTS), "newest"),
  type: v.optional(v.picklist(KINDS)),
  cursor: PageCursor,
  limit: PageLength,
})
export type ListFiles = v.InferOutput<typeof ListFiles>

/**
 * Names are stored composed and without control characters, so the search text is normalised in the
 * same way.
 */
function searchable(text: string): string {
  return text
    .toWellFormed()
    .normalize("NFC")
    .replace(/\p{Cc}/gu, "")
    .trim()
}

/**
 * `report.final.pdf` is split into `report.final` and `.pdf`; `archive.tar.gz` keeps both
 * extensions; `.env` has none.
 */
export function splitName(fileName: string): { stem: string; extension: string } {
  const extension = /(?<=[^.])(\.tar)?\.(?=\p{N}*\p{L})[\p{L}\p{N}]{1,16}$/u.exec(fileName)?.[0] ?? ""
  return { stem: fileName.slice(0, fileName.length - extension.length), extension }
}

/** Whether the bytes are readable text. */
export function isTextType(mimeType: string): boolean {
  return (
    mimeType.startsWith("text/") || /^(application\/(json|xml|xhtml\+xml)|image\/svg\+xml)$/.test(mimeType)
  )
}

export function isMarkdown({ mimeType, fileName }: Pick<File, "mimeType" | "fileName">): boolean {
  return mimeType === "text/markdown" || (isTextType(mimeType) && /\.(md|markdown)$/i.test(fileName))
}

/**
 * Whether a browser may display the type in place. Any other type could run scripts with the rights
 * of the site that serves it.
 */
export function isShownInline(mimeType: string): boolean {
  return INLINE_TYPES.has(mimeType)
}

const INLINE_TYPES = new Set([
  "image/png",
  "image/apng",
  "image/bmp",
  "image/x-icon",
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

/** Types whose decoders are worth their risk. An SVG is a program, and is never rendered by the server. */
export function hasThumbnail(mimeType: string): boolean {
  return /^image\/(jpeg|a?png|webp|gif|avif)$/.test(mimeType)
}
