import { execFileSync } from "node:child_process"
import { chmodSync } from "node:fs"

/**
 * Makes a folder refuse every write, as a file system does that an error has turned read-only; for users other than
 * root, by its permissions. Returns what undoes it, once or more often.
 */
export function makeReadOnly(folder: string): () => void {
  // Permissions do not hold root back.
  if (process.getuid?.() !== 0) {
    chmodSync(folder, 0o500)
    return () => chmodSync(folder, 0o700)
  }
  execFileSync("mount", ["--bind", folder, folder])
  try {
    execFileSync("mount", ["-o", "remount,ro,bind", folder])
  } catch (error) {
    execFileSync("umount", [folder])
    throw error
  }
  let isMounted = true
  return () => {
    if (isMounted) execFileSync("umount", [folder])
    isMounted = false
  }
}
