import * as v from "valibot"
import type { MutationType } from "#server/realtime/contract.ts"
import { reason } from "#server/reason-contract.ts"
import { InSpace } from "#server/spaces/place-contract.ts"
import { FileId, KINDS, SearchText, type FileSummary } from "./contract.ts"

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
  until: v.optional(v.pipe(v.string(), v.toNumber(), Moment)),
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

/** What matches a search: how many files, their bytes, and when the last of them was added. */
export interface MatchCount {
  count: number
  size: number
  /** Milliseconds since the epoch; 0 without files. For `until`, so that later files are left out. */
  until: number
}

/** What moved files to the trash at once. */
export interface Trashed {
  count: number
  /** By this they are restored together. */
  trashedAt: number
}

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

/**
 * The functions that can be called by name over the socket. Creating a link is not among them:
 * responses of mutations are stored in the database, and a link's URL must not be.
 */
export const fileCalls: {
  rename: MutationType<"files.rename", { fileId: string; fileName: string }, FileSummary>
  /** Moves it to the trash. */
  remove: MutationType<"files.remove", { fileId: string }, void>
  /** Restores it from the trash, under another name if its own has been taken in the meantime. */
  restore: MutationType<"files.restore", { fileId: string }, FileSummary>
  /** Deletes it permanently, from the trash or from the list. */
  purge: MutationType<"files.purge", { fileId: string }, void>
  /**
   * Like those above, for several files in one transaction. Missing files are skipped; returns how
   * many existed.
   */
  removeMany: MutationType<"files.removeMany", { fileIds: string[] }, number>
  restoreMany: MutationType<"files.restoreMany", SelectedTrash, number>
  purgeMany: MutationType<"files.purgeMany", SelectedTrash, number>
  /** Moves all that match to the trash. They are restored together by its result. */
  removeAll: MutationType<"files.removeAll", MatchingFiles, Trashed>
  /**
   * Moves or copies files to another place, under other names where theirs are taken. Missing files
   * are skipped; returns how many there were.
   */
  move: MutationType<"files.move", MoveFiles, number>
  copy: MutationType<"files.copy", MoveFiles, number>
  /** Permanently deletes everything in the trash of one place. Returns how many files there were. */
  emptyTrash: MutationType<"files.emptyTrash", { spaceId?: string }, number>
  revokeShare: MutationType<"files.revokeShare", { shareId: string }, void>
} = {
  rename: { name: "files.rename" },
  remove: { name: "files.remove" },
  restore: { name: "files.restore" },
  purge: { name: "files.purge" },
  removeMany: { name: "files.removeMany" },
  restoreMany: { name: "files.restoreMany" },
  purgeMany: { name: "files.purgeMany" },
  removeAll: { name: "files.removeAll" },
  move: { name: "files.move" },
  copy: { name: "files.copy" },
  emptyTrash: { name: "files.emptyTrash" },
  revokeShare: { name: "files.revokeShare" },
}
