import type { Readable } from "node:stream"
import { and, asc, eq, gt, inArray, sql, type SQL } from "drizzle-orm"
import { predictLength } from "client-zip"
import { blobs, files } from "#db/schema/files.ts"
import { isUnreadable } from "#server/backup/digest.ts"
import { eachRow } from "#server/each-row.ts"
import { isRefusal, NotFound, type Refusal } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { requireMember } from "#server/spaces/access.ts"
import { ISOLATED } from "#server/transport/security-headers.ts"
import { filesIn, readableFiles, trashIn } from "./access.ts"
import type { ArchiveFiles } from "./acts-contract.ts"
import { distinctNames } from "./distinct-names.ts"
import { readStored } from "./read-stored.ts"
import { filesMatching } from "./matching.ts"
import { damagedName } from "./names.ts"
import { untilAccessEnds } from "./access-lease.ts"
import { zipOf } from "./zip.ts"

type Archiving = Scope<"db" | "blobs" | "log" | "viewer">
type Answering = Archiving & Scope<"runningRequests">

/**
 * A zip of files that the viewer may see, created while it is sent, so that only what is in transit is in
 * memory. A named file whose bytes are removed in the meantime, or are damaged, ends the download; an
 * archive of everything says so instead. Throws `NotFound` if one of the named files does not exist, or
 * the space.
 */
export async function archiveFiles(scope: Answering, which: ArchiveFiles): Promise<Response> {
  const day = new Date().toISOString().slice(0, 10)
  const headers = new Headers({
    ...ISOLATED,
    "Cache-Control": "private, no-store, no-transform",
    "Content-Disposition": `attachment; filename="Tideline files ${day}.zip"`,
    "Content-Type": "application/zip",
  })
  const askedAt = performance.now()
  if ("all" in which) {
    const all = "spaceId" in which ? { spaceId: which.spaceId } : which.all === true ? {} : which.all
    if (all.spaceId !== undefined) await requireMember(scope, all.spaceId)
    const zip = zipOf(openAll(scope, filesMatching(scope, all)))
    return new Response(untilAccessEnds(scope, [all.spaceId ?? null], askedAt, zip), { headers })
  }

  const ids = [...new Set(which.ids)]
  const found = await selectFiles(scope).where(
    and(readableFiles(scope, { trashed: false }), inArray(files._id, ids)),
  )
  if (found.length < ids.length) throw new NotFound("file")
  const byId = new Map(found.map((entry) => [entry._id, entry]))
  const named = withDistinctNames(ids.flatMap((id) => byId.get(id) ?? []))
  headers.set("Content-Length", String(predictLength(named.map(({ name, size }) => ({ name, size })))))
  const spaceIds = found.map(({ spaceId }) => spaceId)
  const zip = zipOf(openOneByOne(scope, named))
  return new Response(untilAccessEnds(scope, spaceIds, askedAt, zip), { headers })
}

interface Entry {
  _id: string
  lastModified: number
  name: string
  size: number
  key: string
  sha256: string
  spaceId: string | null
}

/** All of the viewer's own files, each under a unique name, as entries of a zip. */
export function openAllFiles(scope: Archiving) {
  return openAll(scope, filesIn(scope, undefined))
}

/** The same for the viewer's trash. */
export function openTrashedFiles(scope: Archiving) {
  return openAll(scope, trashIn(scope, undefined))
}

function selectFiles({ db }: Scope<"db">) {
  return db
    .select({
      _id: files._id,
      lastModified: sql<number>`coalesce(${files.modifiedAt}, ${files._creationTime})::float8`,
      name: files.fileName,
      size: files.size,
      key: blobs.key,
      sha256: blobs.sha256,
      spaceId: files.spaceId,
    })
    .from(files)
    .innerJoin(blobs, eq(blobs._id, files.storageId))
    .$dynamic()
}

/**
 * Nobody can leave damaged files out of these, so they do not end the archive. A text takes the place of
 * a file that is missing or of another size. What shows only while a file is read comes after its
 * header, so its entry has what the store has. The last entry names all of them.
 */
async function* openAll(scope: Archiving, place: SQL | undefined) {
  const named = distinctNames()
  const damaged = new Set<string>()
  const found = eachRow((after, most) =>
    selectFiles(scope)
      .where(and(place, after === undefined ? undefined : gt(files._id, after)))
      .orderBy(asc(files._id))
      .limit(most),
  )
  for await (const { _id, lastModified, key, size, sha256, ...entry } of found) {
    const name = named(entry.name)
    const note = () => void damaged.add(name)
    const input = await readStored(scope, { fileName: name, key, size, sha256 }, undefined, note).catch(
      refusalOnly,
    )
    if (isRefusal(input)) {
      // It may have been deleted since its row was read.
      if ((await scope.db.$count(files, eq(files._id, _id))) === 0) continue
      note()
      yield { name: named(damagedName(name)), input: `${input.message}\n` }
      continue
    }
    try {
      yield { name, lastModified: dateOf(lastModified), input: untilUnreadable(input, note) }
    } finally {
      input.destroy()
    }
  }
  if (damaged.size > 0) yield { name: named("damaged files.txt"), input: listDamaged(damaged) }
}

function refusalOnly(error: unknown): Refusal {
  if (!isRefusal(error)) throw error
  return error
}

async function* untilUnreadable(input: Readable, note: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* input as AsyncIterable<Uint8Array>
  } catch (error) {
    if (!isUnreadable(error)) throw error
    note()
  }
}

async function* listDamaged(names: Iterable<string>): AsyncGenerator<string> {
  yield "The contents of these files are missing or damaged on the server. Its operator can restore them from a backup.\n\n"
  for (const name of names) yield `${name}\n`
}

function withDistinctNames(entries: Entry[]): Entry[] {
  const named = distinctNames()
  return entries.map((entry) => ({ ...entry, name: named(entry.name) }))
}

async function* openOneByOne(scope: Archiving, entries: Iterable<Entry>) {
  for (const { lastModified, name, size, key, sha256 } of entries) {
    const input = await readStored(scope, { fileName: name, key, size, sha256 })
    try {
      yield { name, size, lastModified: dateOf(lastModified), input }
    } finally {
      input.destroy()
    }
  }
}

/** The times that a zip can hold, with a day to spare for time zones. */
const FIRST = Date.UTC(1980, 0, 2)
const LAST = Date.UTC(2107, 11, 30)

function dateOf(time: number): Date {
  return new Date(Math.min(Math.max(time, FIRST), LAST))
}
