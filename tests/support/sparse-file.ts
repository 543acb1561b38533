import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

/**
 * The path of a new file of that many zero bytes, which needs no space and is removed after the
 * test. For a page that is given a large file: the browser opens it itself, while bytes given to
 * Playwright are decoded in the page, which takes seconds for 10 MB if other tests run.
 */
export function sparseFile(name: string, size: number): string {
  const folder = mkdtempSync(join(tmpdir(), "tideline-sparse-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, name)
  writeFileSync(path, "")
  truncateSync(path, size)
  return path
}
