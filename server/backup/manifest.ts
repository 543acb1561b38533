import { text } from "node:stream/consumers"
import * as v from "valibot"
import { MANIFEST } from "./folder.ts"
import { readFrom, type StoredBackup } from "./stored-backup.ts"

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))
/**
 * The name of a table or sequence: anything that PostgreSQL accepts. File names contain it encoded.
 */
const Name = v.pipe(
  v.string(),
  v.minBytes(1),
  v.maxBytes(63),
  v.check((name) => name.isWellFormed()),
)

/** The manifest of a backup. It is written last: a folder without one is not a backup. */
const Manifest = v.object({
  format: v.literal(1),
  /** The version of Tideline that wrote it. */
  version: v.string(),
  /** The time of its rows and files. ISO 8601. */
  takenAt: v.pipe(v.string(), v.isoTimestamp()),
  schema: v.object({ at: Count, hash: Sha256 }),
  tables: v.array(
    v.object({
      schema: Name,
      name: Name,
      columns: v.array(v.string()),
      rows: Count,
      /** Of the rows in COPY's text format, before compression. */
      sha256: Sha256,
    }),
  ),
  sequences: v.array(
    v.object({
      schema: Name,
      name: Name,
      value: v.pipe(v.string(), v.regex(/^-?\d+$/)),
      isCalled: v.boolean(),
    }),
  ),
  blobs: v.object({
    count: Count,
    /** The total. */
    bytes: Count,
    /** Of the list of blobs. */
    sha256: Sha256,
    /**
     * Keys of bytes that were already missing or damaged, if the operator wanted a backup without
     * them.
     */
    lost: v.array(v.string()),
  }),
})

export type Manifest = v.InferOutput<typeof Manifest>
export type WrittenTable = Manifest["tables"][number]

/** The manifest's text. Throws if `readManifest` would not accept it. */
export function formatManifest(manifest: Manifest): string {
  const parsed = v.safeParse(Manifest, manifest)
  if (!parsed.success) {
    const [issue] = parsed.issues
    throw new Error(
      `The backup could not be restored (${v.getDotPath(issue)}: ${issue.message}). No backup was written.`,
    )
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** Throws an error of one sentence if it cannot be understood. */
export async function readManifest(backup: StoredBackup): Promise<Manifest> {
  const path = `${backup.at}/${MANIFEST}`
  let content: unknown
  try {
    content = JSON.parse(await text(readFrom(backup, MANIFEST)))
  } catch (error) {
    throw new Error(`${path} cannot be read: this is not a backup, or it is damaged. Use another backup.`, {
      cause: error,
    })
  }
  if (typeof content === "object" && content !== null && "format" in content && content.format !== 1) {
    throw new Error(
      `${path} has a format that this version of Tideline does not know. Restore it with a newer version.`,
    )
  }
  const parsed = v.safeParse(Manifest, content)
  if (!parsed.success) throw new Error(`${path} is damaged. Use another backup.`)
  return parsed.output
}
