import { implement } from "#server/operations/implement.ts"
import { listOf } from "#server/operations/list.ts"
import { Place } from "./contract.ts"
import { renameFile, requireMatch } from "./files.ts"
import { listFiles } from "./list.ts"
import { trashList } from "./live.ts"
import { countMatching } from "./matching.ts"
import { copyFiles, moveFiles } from "./move.ts"
import { fileOperations } from "./operations-contract.ts"
import { restoreFile, restoreFiles } from "./restore.ts"
import { fileShareFunctions } from "./shares.ts"
import { emptyTrash, purgeFile, purgeFiles, trashFile, trashFiles } from "./trash.ts"

const others = implement(
  fileOperations,
  {
    list: listFiles,
    rename: (scope, { fileId, fileName }) => renameFile(scope, fileId, { fileName }),
    remove: (scope, { fileId }) => trashFile(scope, fileId),
    purge: (scope, { fileId }) => purgeFile(scope, fileId),
    delete: (scope, { fileId, permanently }) =>
      (permanently === undefined ? trashFile : purgeFile)(scope, fileId),
    restore: (scope, { fileId }) => restoreFile(scope, fileId),
    count: countMatching,
    removeMany: trashFiles,
    removeAll: (scope, all) => trashFiles(scope, { all }),
    trash: trashFiles,
    restoreMany: restoreFiles,
    purgeMany: purgeFiles,
    emptyTrash,
    emptyTrashOf: emptyTrash,
    move: moveFiles,
    copy: (scope, asked, { once }) => copyFiles(scope, asked, once),
  },
  requireMatch,
)

export const fileFunctions = [
  ...others,
  ...fileShareFunctions,
  listOf(trashList, {
    tag: "Files",
    may: "member",
    missing: "space",
    input: Place,
    http: { at: "GET /api/files/trash", id: "listTrash", probe: "probeTrash", field: "files" },
  }),
]
