/** Methods of Chromium's handles that TypeScript's DOM types do not have yet. */
interface Permitted {
  queryPermission(options: { mode: "read" }): Promise<PermissionState>
  requestPermission(options: { mode: "read" }): Promise<PermissionState>
}

interface Known {
  size: number
  lastModified: number
}

/**
 * The file of a stored handle, if the browser still grants access without asking and the file has
 * not changed.
 */
export async function findFile(handle: FileSystemFileHandle, known: Known): Promise<File | undefined> {
  return openIf(handle, known, (permitted) => permitted.queryPermission({ mode: "read" }))
}

/** Like `findFile`, but the browser may ask for permission. Needs a user gesture. */
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
    // The file was deleted, or the browser denied access.
    return undefined
  }
}
