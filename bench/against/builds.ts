import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { buildApp, builtServer, isOutOfDate } from "#server/commands/bundle.ts"

export type Build = "this" | "other"

const root = resolve(import.meta.dirname, "../..")

/** Calls `work` with the servers of both builds. Another commit is built in a folder of its own. */
export async function withBuilds<Result>(
  commit: string,
  work: (builds: Record<Build, string>) => Promise<Result>,
): Promise<Result> {
  if (isOutOfDate(root)) await buildApp(root)
  const isBuilt = existsSync(builtServer(resolve(commit)))
  const other = isBuilt ? resolve(commit) : checkOut(commit)
  try {
    return await work({ this: builtServer(root), other: builtServer(other) })
  } finally {
    if (!isBuilt) {
      git("worktree", "remove", "--force", other)
      rmSync(resolve(other, ".."), { recursive: true, force: true })
    }
  }
}

function checkOut(commit: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), "tideline-other-")), "tree")
  git("worktree", "add", "--detach", folder, commit)
  for (const args of [["ci"], ["run", "build"]]) execFileSync("npm", args, { cwd: folder, stdio: STDIO })
  return folder
}

function git(...args: string[]): void {
  execFileSync("git", args, { cwd: root, stdio: STDIO })
}

/** Nothing but the table belongs in the standard output. */
const STDIO = ["ignore", "ignore", "inherit"] as const satisfies [unknown, unknown, unknown]
