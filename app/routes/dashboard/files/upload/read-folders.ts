import { msg, plural } from "@lingui/core/macro"
import { i18nOfDocument } from "#app/language/i18n.ts"
import type { ToastWords } from "#app/ui/toast-queue.ts"
import { chosenOf, inNamedFolder, type DroppedItem } from "./dropped-files.ts"
import type { Chosen } from "./upload.ts"

/** Names that one message lists. */
const NAMED = 5

/** The files of a drop, those inside folders too, and the messages that name what is not among them. */
export async function readFolders(
  items: readonly DroppedItem[],
): Promise<{ chosen: Chosen[]; messages: ToastWords[] }> {
  const unread: string[] = []
  const empty: string[] = []
  const chosen = await Promise.all(
    items.map(async (item): Promise<Chosen[]> => {
      if (!item.entry || !isDirectory(item.entry)) return chosenOf(item)
      const failed: string[] = []
      const files = (await filesOf(item.entry, failed)).filter(inNamedFolder)
      unread.push(...failed)
      if (files.length === 0 && failed.length === 0) empty.push(item.entry.name)
      return files.map((file) => ({ file }))
    }),
  )
  return { chosen: chosen.flat(), messages: [...aboutUnread(unread), ...aboutEmpty(empty)] }
}

function aboutUnread(paths: readonly string[]): ToastWords[] {
  const [path] = paths
  if (path === undefined) return []
  const i18n = i18nOfDocument()
  const title = i18n._(
    msg`${plural(paths.length, {
      one: `“${path}” couldn't be read`,
      other: "# files or folders couldn't be read",
    })}`,
  )
  const advice = i18n._(msg`Check the permissions on your device, then add it again.`)
  return [{ tone: "danger", title, description: paths.length > 1 ? `${namesOf(paths)}. ${advice}` : advice }]
}

function aboutEmpty(names: readonly string[]): ToastWords[] {
  const [name] = names
  if (name === undefined) return []
  const title = i18nOfDocument()._(
    msg`${plural(names.length, {
      one: `“${name}” has no files in it`,
      other: "# folders have no files in them",
    })}`,
  )
  return [names.length > 1 ? { title, description: namesOf(names) } : { title }]
}

function namesOf(names: readonly string[]): string {
  return names.slice(0, NAMED).join(", ") + (names.length > NAMED ? ", …" : "")
}

/** Adds to `unread` what cannot be read, for example without the permission to, and goes on. */
async function filesOf(entry: FileSystemEntry, unread: string[]): Promise<File[]> {
  const files: File[] = []
  try {
    if (isFile(entry)) files.push(await new Promise<File>((resolve, reject) => entry.file(resolve, reject)))
    if (!isDirectory(entry)) return files
    const reader = entry.createReader()
    for (;;) {
      // A reader returns up to a hundred entries at a time, and an empty array at the end.
      const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      )
      if (entries.length === 0) return files
      for (const inner of entries) for (const file of await filesOf(inner, unread)) files.push(file)
    }
  } catch {
    unread.push(entry.fullPath.slice(1))
    return files
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}
