/** The files of a drop or a paste, those inside dropped folders too. Call it while the event is being handled. */
export async function readFiles(transfer: DataTransfer): Promise<File[]> {
  // The list is emptied when the handler returns, so the entries are taken out before anything is awaited.
  const entries = [...transfer.items]
    .filter((item) => item.kind === "file")
    .map((item) => item.webkitGetAsEntry())
  const files = [...transfer.files]
  if (!entries.some((entry) => entry?.isDirectory)) return files
  const nested = await Promise.all(entries.filter((entry) => entry !== null).map(filesOf))
  return nested.flat()
}

async function filesOf(entry: FileSystemEntry): Promise<File[]> {
  if (isFile(entry)) return [await new Promise<File>((resolve, reject) => entry.file(resolve, reject))]
  if (!isDirectory(entry)) return []
  const reader = entry.createReader()
  const files: File[] = []
  for (;;) {
    // A reader gives a hundred at a time, and nothing at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (entries.length === 0) return files
    for (const inner of entries) files.push(...(await filesOf(inner)))
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}
