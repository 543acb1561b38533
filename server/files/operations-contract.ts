import * as v from "valibot"
import { operations } from "#server/operations/contract.ts"
import { InSpace } from "#server/spaces/place-contract.ts"
import {
  Count,
  CountFiles,
  MatchCount,
  MatchingFiles,
  MoveFiles,
  NamedFiles,
  Placed,
  SelectedFiles,
  SelectedTrash,
  Trashed,
} from "./acts-contract.ts"
import { FileId, FilePage, FileRow, ListFiles, Place, RemoveQuery, RenameFile } from "./contract.ts"

const OfFile = v.strictObject({ fileId: FileId })
const TOO_MANY = { invalid: ["files-too-many"] } as const
const BEYOND_PLAN = {
  too_large: [
    "file-too-large",
    "not-enough-space",
    "not-enough-space-of-owner",
    "not-enough-space-together",
    "not-enough-space-of-owner-together",
    "too-many-files",
    "too-many-files-of-owner",
  ],
} as const

export const fileOperations = operations("files", { tag: "Files", missing: "file" })({
  list: {
    about: "The caller's files, or those in a space.",
    may: "member",
    missing: "space",
    input: ListFiles,
    output: FilePage,
    http: { at: "GET /api/files", id: "listFiles" },
  },
  rename: {
    about: "Gives a file another name.",
    may: "editor",
    input: v.strictObject({ ...OfFile.entries, ...RenameFile.entries }, RenameFile.message),
    output: FileRow,
    refuses: { conflict: ["file-name-taken"] },
    http: {
      at: "PATCH /api/files/:fileId",
      id: "renameFile",
      field: "file",
      honours: "If-Match",
      cleansTexts: true,
    },
  },
  remove: {
    about: "Moves a file to the trash.",
    may: "editor",
    input: OfFile,
  },
  purge: {
    about: "Deletes a file permanently, from the trash or the list.",
    may: "editor",
    input: OfFile,
  },
  delete: {
    about: "Moves a file to the trash, or deletes it permanently.",
    may: "editor",
    input: v.strictObject({ ...OfFile.entries, ...RemoveQuery.entries }),
    http: { at: "DELETE /api/files/:fileId", id: "removeFile", honours: "If-Match" },
    httpOnly: true,
  },
  restore: {
    about: "Takes a file out of the trash. Under another name if its own has been taken in the meantime.",
    may: "editor",
    input: OfFile,
    output: FileRow,
    http: { at: "POST /api/files/:fileId/restore", id: "restoreFile", field: "file" },
  },
  count: {
    about:
      "How many files match a search, and their bytes. With `until` in an `all` of other requests, these are the files that they are about.",
    may: "member",
    missing: "space",
    input: CountFiles,
    output: MatchCount,
    http: { at: "GET /api/files/count", id: "countFiles", probe: "probeCount" },
  },
  removeMany: {
    about: "Moves files to the trash. Missing ones are skipped; returns how many existed.",
    may: "editor",
    missing: "space",
    input: NamedFiles,
    output: Trashed,
    returns: "count",
    refuses: TOO_MANY,
  },
  removeAll: {
    about:
      "Moves all files of a place that match to the trash, in one transaction. They are restored together by `trashedAt`.",
    may: "editor",
    missing: "space",
    input: MatchingFiles,
    output: Trashed,
    refuses: TOO_MANY,
  },
  trash: {
    about:
      "Moves several files to the trash, or all that match, in one transaction. Missing files are skipped. They are restored together by `trashedAt`.",
    may: "editor",
    missing: "space",
    input: SelectedFiles,
    output: Trashed,
    refuses: TOO_MANY,
    http: { at: "POST /api/files/trash", id: "trashFiles" },
    httpOnly: true,
  },
  restoreMany: {
    about:
      "Takes several files out of the trash, or all that match, in one transaction. Missing ones are skipped, and names that are taken get a number; returns how many existed.",
    may: "editor",
    missing: "space",
    input: SelectedTrash,
    output: Count,
    refuses: TOO_MANY,
    http: { at: "POST /api/files/restore", id: "restoreFiles", field: "count" },
  },
  purgeMany: {
    about:
      "Deletes several files permanently, or all that match in the trash, in one transaction. Missing ones are skipped; returns how many existed.",
    may: "editor",
    missing: "space",
    input: SelectedTrash,
    output: Count,
    refuses: TOO_MANY,
    http: { at: "POST /api/files/purge", id: "purgeFiles", field: "count" },
  },
  emptyTrash: {
    about:
      "Deletes all files in the caller's trash permanently, or in a space's, and returns how many there were.",
    may: "editor",
    missing: "space",
    input: v.strictObject({ spaceId: InSpace }),
    output: Count,
  },
  emptyTrashOf: {
    about: "Deletes for ever what is in the caller's trash, or in a space's.",
    may: "editor",
    missing: "space",
    input: Place,
    output: Count,
    http: { at: "DELETE /api/files/trash", id: "emptyTrash", field: "purged" },
    httpOnly: true,
  },
  move: {
    about:
      "Moves files into a space, or with no space to what is personal to the caller. A file whose name is taken there gets a number, missing ones are skipped, and links that others created end.",
    may: "editor",
    missing: "space",
    input: MoveFiles,
    output: Placed,
    returns: "count",
    refuses: { ...TOO_MANY, not_found: ["no-such-file"], ...BEYOND_PLAN },
    http: { at: "POST /api/files/move", id: "moveFiles" },
  },
  copy: {
    about:
      "Copies files into a space, or with no space to what is personal to the caller. A file whose name is taken there gets a number, and missing ones are skipped.",
    may: "member",
    missing: "space",
    input: MoveFiles,
    output: Placed,
    returns: "count",
    refuses: {
      ...TOO_MANY,
      not_found: ["no-such-file"],
      forbidden: ["space-reader"],
      ...BEYOND_PLAN,
    },
    http: { at: "POST /api/files/copy", id: "copyFiles", creates: true, once: true },
  },
})
