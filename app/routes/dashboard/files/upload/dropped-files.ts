import { msg } from "@lingui/core/macro"
import { i18nOfDocument } from "#app/language/i18n.ts"
import type { Chosen } from "./upload.ts"

/** A method of Chromium that TypeScript's DOM types do not have yet. */
interface HandleGiver {
  getAsFileSystemHandle(): Promise<FileSystemHandle | null>
}

/**
 * The files of a drop or a paste, including those inside dropped folders. Call it while the event
 * is being handled.
 */
export async function readFiles(transfer: DataTransfer): Promise<Chosen[]> {
  // The list is emptied when the handler returns, so read everything from it before the first
  // await.
  const dropped = [...transfer.items]
    .filter((item) => item.kind === "file")
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile(), handle: handleOf(item) }))
  const chosen = await Promise.all(
    dropped.map(async ({ entry, file, handle }): Promise<Chosen[]> => {
      if (entry && isDirectory(entry)) {
        const files = await filesOf(entry).catch(() => [])
        return files.filter(inNamedFolder).map((inner) => ({ file: inner }))
      }
      return file ? [{ file, handle: await handle }] : []
    }),
  )
  return chosen.flat()
}

/** A copied image has no name of its own: all of them are `image.png`. */
export function namePasted({ file, handle }: Chosen, now: Date): Chosen {
  if (file.name !== "image.png") return { file, handle }
  const at = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())} ${two(now.getHours())}.${two(now.getMinutes())}.${two(now.getSeconds())}`
  const name = i18nOfDocument()._(msg`Pasted ${at}`)
  return { file: new File([file], `${name}.png`, { type: file.type, lastModified: file.lastModified }) }
}

/** Whether a user put it there, and not the operating system. */
export function inNamedFolder({ name }: File): boolean {
  return ![".DS_Store", "Thumbs.db", "desktop.ini"].includes(name)
}

function two(number: number): string {
  return String(number).padStart(2, "0")
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

async function filesOf(entry: FileSystemEntry): Promise<File[]> {
  if (isFile(entry)) return [await new Promise<File>((resolve, reject) => entry.file(resolve, reject))]
  if (!isDirectory(entry)) return []
  const reader = entry.createReader()
  const files: File[] = []
  for (;;) {
    // A reader returns up to a hundred entries at a time, and an empty array at the end.
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
