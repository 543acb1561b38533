import { chownSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as v from "valibot"
import { withClient } from "./with-client.ts"

/**
 * Which database this is, the same on every server that was copied from it and promoted, and another
 * one after a restore, a dump or PostgreSQL's own upgrade.
 */
export const Identity = v.object({
  /** Null if it was not migrated to this version yet. */
  installation: v.nullable(v.pipe(v.string(), v.uuid())),
  /** What PostgreSQL calls its system identifier. */
  system: v.pipe(v.string(), v.digits()),
  /** The number of the database in it. */
  database: v.pipe(v.string(), v.digits()),
})

export type Identity = v.InferOutput<typeof Identity>

export async function identify(url: string): Promise<Identity> {
  return withClient(url, async (client) => {
    const [found] = await client<[Omit<Identity, "installation"> & { isKnown: boolean }]>`
      select system_identifier::text as system, to_regclass('drizzle.installation') is not null as "isKnown",
        (select oid::text from pg_database where datname = current_database()) as database
      from pg_control_system()`
    const { isKnown, ...where } = found
    const [row] = isKnown ? await client<{ id: string }[]>`select id from drizzle.installation` : []
    return { installation: row?.id ?? null, ...where }
  })
}

export function isSame(one: Identity, other: Identity): boolean {
  return (
    one.installation === other.installation && one.system === other.system && one.database === other.database
  )
}

/** Gives a restored database an identity of its own. */
export const RENEW_INSTALLATION = "update drizzle.installation set id = gen_random_uuid()"

/** Where a folder notes whose it is. A folder of its own: earlier versions read every other name. */
export function ownerFile(folder: string): string {
  return join(folder, "owner", "installation.json")
}

/** Null if there is none. Throws an error that names a file that cannot be read. */
export function readOwner<Owner extends v.GenericSchema>(
  file: string,
  schema: Owner,
): v.InferOutput<Owner> | null {
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
    throw error
  }
  return parseOwner(text, file, schema)
}

export function parseOwner<Owner extends v.GenericSchema>(
  text: string,
  at: string,
  schema: Owner,
): v.InferOutput<Owner> {
  const owner = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text)
  if (owner.success) return owner.output
  throw new Error(
    `${at} is damaged, so nobody knows whose backups are beside it. If they are this installation's, remove that file.`,
  )
}

export function writeOwner(file: string, owner: Identity): void {
  const folder = dirname(file)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.new`, `${JSON.stringify(owner)}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
  if (process.getuid?.() !== 0) return
  // Root restores in containers, and the processes are not root.
  const { uid, gid } = statSync(dirname(folder))
  for (const path of [folder, file]) chownSync(path, uid, gid)
}

/** Where an embedded PostgreSQL notes which one it is, for the next start. */
export function ownIdentityFile(directory: string): string {
  return join(directory, "owner", "installation.json")
}

/** Whether the cluster in `directory` may write into a history: nobody's, or its own. */
export function mayKeepHistory(history: string, directory: string): boolean {
  const owner = readOwner(ownerFile(history), Identity)
  if (owner === null) return true
  const own = readOwner(ownIdentityFile(directory), Identity)
  return own !== null && isSame(owner, own)
}
