import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, statSync } from "node:fs"
import { readFile, rename, rm, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, gzip } from "node:zlib"
import { readCommit } from "./read-commit.ts"

const SOURCES = [
  "app",
  "server",
  "db",
  "live",
  "docs",
  "public",
  "package-lock.json",
  "vite.config.ts",
  "languages.config.ts",
  "lingui.config.ts",
  "react-router.config.ts",
]

export function builtServer(root: string): string {
  return join(root, "build/server/index.js")
}

/** Whether there is no build or a source is newer. */
export function isOutOfDate(root: string): boolean {
  const built = builtServer(root)
  return !existsSync(built) || SOURCES.some((source) => newest(join(root, source)) > statSync(built).mtimeMs)
}

/**
 * Builds the browser's and the server's code into build/. The old build stays until the new one is
 * complete, even if two processes build at the same time. Throws if something does not compile,
 * after printing why.
 */
export async function buildApp(root: string): Promise<void> {
  const begun = new Date()
  const name = `build.${process.pid}`
  const unfinished = join(root, name)
  try {
    await runBuild(root, name)
    await Promise.all([compressFiles(join(unfinished, "client")), fillCompileCache(unfinished)])
    // Sources that changed during the build are newer than it.
    await utimes(join(unfinished, "server/index.js"), begun, begun)
    await rm(join(root, "build"), { recursive: true, force: true })
    await rename(unfinished, join(root, "build"))
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** In a separate process, which frees its memory. */
async function runBuild(root: string, buildDirectory: string) {
  const cli = join(root, "server/commands/react-router.ts")
  const building = spawn(process.execPath, [cli, "build", "--logLevel", "warn"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      NODE_ENV: "production",
      BUILD_DIRECTORY: buildDirectory,
      COMMIT: process.env["COMMIT"] || (readCommit(root) ?? ""),
    },
  })
  const [code] = await once(building, "exit")
  if (code !== 0) throw new Error("Tideline could not be built. The reason is printed above.")
}

/** Node's bytecode cache, so that the server's first start does not compile either. */
async function fillCompileCache(directory: string) {
  const compiling = spawn(process.execPath, [join(directory, "server/index.js"), "--compile"], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, NODE_ENV: "production" },
  })
  const [code] = await once(compiling, "exit")
  if (code !== 0) throw new Error("The built server could not be loaded. The reason is printed above.")
}

/** At the highest level: it is done once, and every download benefits. */
async function compressFiles(directory: string) {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter(
    (entry) => entry.isFile() && /\.(js|css|svg|json|txt|xml|webmanifest)$/.test(entry.name),
  )
  await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      const bytes = await readFile(path)
      if (bytes.byteLength < 1024) return
      await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes))
      await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }))
    }),
  )
}

/** When the newest file, or the list of files, in the folder changed. Milliseconds. */
function newest(path: string): number {
  if (!existsSync(path)) return 0
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}
