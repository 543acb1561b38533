import { readFile, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as v from "valibot"
import { copyCluster } from "#db/embedded/base-backup.ts"
import { segmentsIn } from "#db/embedded/wal-archive.ts"
import { listBackups, removeBackup, removeUnfinished, writeFolder } from "#server/backup/folder.ts"

// The history of a cluster: `base/` with copies of its files, each in a folder named after its time,
// `wal/` with the log that continues them, and `blobs/` with the bytes of files.

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** In the cluster, and nowhere else. */
const Path = v.pipe(v.string(), v.regex(/^(?!\.\.?(?:\/|$))[^/\0]+(?:\/(?!\.\.?(?:\/|$))[^/\0]+)*$/))

const Base = v.object({
  format: v.literal(1),
  completeAt: Count,
  timeline: Count,
  firstSegment: v.pipe(v.string(), v.regex(/^[0-9A-F]{24}$/)),
  folders: v.array(Path),
  files: v.array(
    v.object({
      path: Path,
      size: Count,
      sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    }),
  ),
})

export interface Base extends v.InferOutput<typeof Base> {
  folder: string
}

function basesIn(archive: string): string {
  return join(archive, "base")
}

/** Copies the running cluster into its archive. */
export async function takeBase(url: string, archive: string): Promise<Base> {
  let note: v.InferOutput<typeof Base> | undefined
  const folder = await writeFolder(basesIn(archive), new Date(), async (unfinished) => {
    note = { format: 1, ...(await copyCluster(url, unfinished)) }
    await writeFile(noteIn(unfinished), JSON.stringify(note), { mode: 0o600, flush: true })
  })
  if (!note) throw new Error("The base backup that was written has no note.")
  return { ...note, folder }
}

/** The complete ones, oldest first. */
export async function listBases(archive: string): Promise<Base[]> {
  const bases: Base[] = []
  for (const name of await listBackups(basesIn(archive)))
    bases.push(await readBase(join(basesIn(archive), name)))
  return bases.toSorted((one, other) => one.completeAt - other.completeAt)
}

/** Removes what only moments before `since` need. Nobody else may be writing base backups. */
export async function pruneBases(archive: string, since: number): Promise<Base[]> {
  await removeUnfinished(basesIn(archive))
  const bases = await listBases(archive)
  const first = Math.max(
    bases.findLastIndex(({ completeAt }) => completeAt <= since),
    0,
  )
  for (const { folder } of bases.slice(0, first))
    await removeBackup(basesIn(archive), folder.slice(basesIn(archive).length + 1))
  const kept = bases.slice(first)
  const needed = kept.map(({ firstSegment }) => positionOf(firstSegment)).toSorted()[0]
  for (const name of needed === undefined ? [] : await readdir(segmentsIn(archive)))
    if (/^[0-9A-F]{24}\b/.test(name) && positionOf(name) < needed!) await rm(join(segmentsIn(archive), name))
  return kept
}

/** A segment's place in the log, without its timeline. */
function positionOf(segment: string): string {
  return segment.slice(8, 24)
}

async function readBase(folder: string): Promise<Base> {
  const path = noteIn(folder)
  const text = await readFile(path, "utf8").catch(() => "")
  const note = v.safeParse(v.pipe(v.string(), v.parseJson(), Base), text)
  if (!note.success)
    throw new Error(`${path} is damaged. Remove ${folder}: earlier and later moments can still be restored.`)
  return { ...note.output, folder }
}

function noteIn(folder: string): string {
  return join(folder, "base.json")
}
