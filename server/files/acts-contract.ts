import * as v from "valibot"
import { record } from "#server/operations/contract.ts"
import { reason } from "#server/reason-contract.ts"
import { InSpace } from "#server/spaces/place-contract.ts"
import { FileId, FileRow, KINDS, SearchText } from "./contract.ts"

/** How many files one call may name. */
export const SELECTION_LIMIT = 1000

/** How many files one call may find by a search. */
export const MATCHING_LIMIT = 100_000

const Moment = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const Except = v.optional(
  v.pipe(v.array(FileId), v.maxLength(SELECTION_LIMIT), v.description("Files that are left out.")),
)

/** The files of one place that a list shows for a search, however many there are. */
export const MatchingFiles = v.strictObject({
  spaceId: InSpace,
  q: v.optional(SearchText),
  type: v.optional(v.picklist(KINDS)),
  until: v.optional(
    v.pipe(Moment, v.description("Only files that were added at this time or before. Milliseconds.")),
  ),
  except: Except,
})
export type MatchingFiles = v.InferOutput<typeof MatchingFiles>

/** The same in a query, which names no files. */
export const CountFiles = v.strictObject({
  spaceId: MatchingFiles.entries.spaceId,
  q: MatchingFiles.entries.q,
  type: MatchingFiles.entries.type,
  until: v.optional(
    v.pipe(
      v.string(),
      v.toNumber(),
      Moment,
      v.description("Only files that were added at this time or before, in milliseconds."),
      v.metadata({ parameter: { type: "integer" } }),
    ),
  ),
})

/** The files in the trash of one place. */
export const MatchingTrash = v.strictObject({
  spaceId: InSpace,
  trashedAt: v.optional(
    v.pipe(
      Moment,
      v.description("Only files that one request moved to the trash, which returned this. Milliseconds."),
    ),
  ),
  until: v.optional(
    v.pipe(
      Moment,
      v.description("Only files that were moved to the trash at this time or before. Milliseconds."),
    ),
  ),
  except: Except,
})
export type MatchingTrash = v.InferOutput<typeof MatchingTrash>

const fileIds = v.pipe(v.array(FileId), v.minLength(1), v.maxLength(SELECTION_LIMIT))
const UNNAMED = reason("files-unselected", { most: SELECTION_LIMIT })

export const NamedFiles = v.strictObject({ fileIds })

/** Files by their ids, or all that match. */
export const SelectedFiles = v.union([NamedFiles, v.strictObject({ all: MatchingFiles })], UNNAMED)
export type SelectedFiles = v.InferOutput<typeof SelectedFiles>

export const SelectedTrash = v.union([NamedFiles, v.strictObject({ all: MatchingTrash })], UNNAMED)
export type SelectedTrash = v.InferOutput<typeof SelectedTrash>

/** Files, and the place that they are moved or copied to. */
export const MoveFiles = v.union(
  [v.strictObject({ fileIds, spaceId: InSpace }), v.strictObject({ all: MatchingFiles, spaceId: InSpace })],
  UNNAMED,
)
export type MoveFiles = v.InferOutput<typeof MoveFiles>

export const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

/**
 * What matches a search: how many files, their bytes, and when the last of them was added, which is 0
 * without files. For `until`, so that later files are left out.
 */
export const MatchCount = v.strictObject({ count: Count, size: Count, until: record._creationTime })
export type MatchCount = v.InferOutput<typeof MatchCount>

/** What moved files to the trash at once. By `trashedAt` they are restored together. */
export const Trashed = v.strictObject({ count: Count, trashedAt: v.pipe(v.number(), v.integer()) })
export type Trashed = v.InferOutput<typeof Trashed>

/** What became of several files: those that were named, and how many matched. */
export const Placed = v.strictObject({
  count: Count,
  files: v.optional(v.pipe(v.array(FileRow), v.description("Only of files that were named by their ids."))),
})
export type Placed = v.InferOutput<typeof Placed>

export const ARCHIVE_LIMIT = 1000

/** The files of a zip: those named, all of one place, or all that match. */
export const ArchiveFiles = v.union(
  [
    v.strictObject({ ids: v.pipe(v.array(FileId), v.minLength(1), v.maxLength(ARCHIVE_LIMIT)) }),
    v.strictObject({ all: v.literal(true), spaceId: InSpace }),
    v.strictObject({ all: MatchingFiles }),
  ],
  reason("files-unnamed", { most: ARCHIVE_LIMIT }),
)
export type ArchiveFiles = v.InferOutput<typeof ArchiveFiles>
