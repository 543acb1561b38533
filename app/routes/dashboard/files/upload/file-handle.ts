/** What Chromium adds to handles, and no type of the browser's has yet. */
interface Permitted {
  queryPermission(options: { mode: "read" }): Promise<PermissionState>
  requestPermission(options: { mode: "read" }): Promise<PermissionState>
}

interface Known {
  size: number
  lastModified: number
}

/**
 * The file that was kept, where the browser still gives it without asking. Not one that has
 * changed.
 */
export async function findFile(handle: FileSystemFileHandle, known: Known): Promise<File | undefined> {
  return openIf(handle, known, (permitted) => permitted.queryPermission({ mode: "read" }))
}

/** As `findFile`; the browser may ask the person. Only after a press. */
export async function askForFile(handle: FileSystemFileHandle, known: Known): Promise<File | undefined> {
  return openIf(handle, known, (permitted) => permitted.requestPermission({ mode: "read" }))
}

async function openIf(
  handle: FileSystemFileHandle,
  { size, lastModified }: Known,
  permission: (handle: Permitted) => Promise<PermissionState>,
): Promise<File | undefined> {
  try {
    if ("queryPermission" in handle && (await permission(handle as unknown as Permitted)) !== "granted")
      return undefined
    const file = await handle.getFile()
    return file.size === size && file.lastModified === lastModified ? file : undefined
  } catch {
    // It is gone, or the browser has thought better of it.
    return undefined
  }
}
