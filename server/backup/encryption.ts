import { createHash } from "node:crypto"
import { text } from "node:stream/consumers"
import * as v from "valibot"
import { BLOB_LIST } from "./folder.ts"
import { readBlobList } from "./blob-list.ts"
import { describeProblems, digestOf, findMissing } from "./verify.ts"
import { readFrom, type StoredBackup } from "./stored-backup.ts"

// An encrypted backup has the same files with `.age` at the end, and two that are not encrypted:
// `encrypted.json` says for whom it is, and `blobs.tsv` lists the bytes of files as they are stored,
// in a store that only has what is encrypted for the same recipients. So a backup can be compared,
// copied and removed without the key.

export const ENCRYPTION = "encrypted.json"

const Stored = v.object({
  size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
})

const Encryption = v.object({
  format: v.literal(1),
  takenAt: v.pipe(v.string(), v.isoTimestamp()),
  recipients: v.pipe(v.array(v.string()), v.minLength(1)),
  /** The files as they are stored, by their names. */
  files: v.record(v.string(), Stored),
})

export type Encryption = v.InferOutput<typeof Encryption>

/** Null if the backup is not encrypted. Throws an error of one sentence if that cannot be read. */
export async function readEncryption(backup: Pick<StoredBackup, "at" | "open">): Promise<Encryption | null> {
  const stream = await backup.open(ENCRYPTION)
  if (!stream) return null
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Encryption), await text(stream))
  if (parsed.success) return parsed.output
  throw new Error(`${backup.at}/${ENCRYPTION} is damaged. Use another backup.`)
}

/** Where a folder or bucket of backups has the bytes of files, by what they are encrypted for. */
export function storeFor(recipients: readonly string[]): string {
  if (recipients.length === 0) return "blobs"
  const name = createHash("sha256").update(recipients.toSorted().join("\n")).digest("hex")
  return `blobs-${name.slice(0, 16)}`
}

export function isStoreName(name: string): boolean {
  return /^blobs(?:-[0-9a-f]{16})?$/.test(name)
}

/**
 * Reads a whole encrypted backup without decrypting it. Throws one error that names everything
 * missing or damaged.
 */
export async function verifyEncrypted(backup: StoredBackup, { files }: Encryption): Promise<void> {
  const problems: string[] = []
  for (const [file, { size, sha256 }] of Object.entries(files)) {
    const found = await digestOf(readFrom(backup, file))
    if (found?.size !== size || found.sha256 !== sha256)
      problems.push(`${backup.at}/${file} is missing or damaged.`)
  }
  if (!problems.some((problem) => problem.includes(BLOB_LIST)))
    problems.push(...(await findMissing(readBlobList(backup), backup.kept)))
  if (problems.length > 0) throw new Error(describeProblems(backup.at, problems))
}
