import type { Chosen } from "./upload.ts"

/** A method of Chromium that TypeScript's DOM types do not have yet. */
interface HandleGiver {
  getAsFileSystemHandle(): Promise<FileSystemHandle | null>
}

/** `entry` is null for what is no file of the file system, such as a copied image. */
export interface DroppedItem {
  entry: FileSystemEntry | null
  file: File | null
  handle: Promise<FileSystemFileHandle | undefined>
}

/**
 * What was dropped or pasted. Call it while the event is being handled: the list is emptied when the
 * handler returns.
 */
export function itemsOf(transfer: DataTransfer): DroppedItem[] {
  return [...transfer.items]
    .filter((item) => item.kind === "file")
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile(), handle: handleOf(item) }))
}

/** Of what is no folder. */
export async function chosenOf({ file, handle }: DroppedItem): Promise<Chosen[]> {
  return file ? [{ file, handle: await handle }] : []
}

/** Whether a user put it there, and not the operating system. */
export function inNamedFolder({ name }: File): boolean {
  return ![".DS_Store", "Thumbs.db", "desktop.ini"].includes(name)
}

async function handleOf(item: DataTransferItem): Promise<FileSystemFileHandle | undefined> {
  if (!("getAsFileSystemHandle" in item)) return undefined
  try {
    const handle = await (item as unknown as HandleGiver).getAsFileSystemHandle()
    return handle?.kind === "file" ? (handle as FileSystemFileHandle) : undefined
  } catch {
    return undefined
  }
}
