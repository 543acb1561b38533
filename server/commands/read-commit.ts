import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/**
 * The commit that is checked out in `root`, or null if that is not a clone. Reads Git's own files,
 * because there is no Git where images are built.
 */
export function readCommit(root: string): string | null {
  const head = read(join(root, ".git/HEAD"))
  const [, branch] = /^ref: (\S+)$/.exec(head) ?? []
  if (!branch) return asCommit(head)
  const packed = read(join(root, ".git/packed-refs")).split("\n")
  return (
    asCommit(read(join(root, ".git", branch))) ??
    asCommit(packed.find((line) => line.endsWith(` ${branch}`))?.split(" ", 1)[0])
  )
}

function read(path: string) {
  return existsSync(path) ? readFileSync(path, "utf8").trim() : ""
}

function asCommit(text = "") {
  return /^[0-9a-f]{40,64}$/.test(text) ? text : null
}
