import { constants } from "node:fs"
import { mkdir, open, opendir, rename, rm, stat, type FileHandle } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import type { Blobs, ListedBlob } from "#server/ports/blobs.ts"
import { OutOfSpace, Unavailable } from "#server/errors.ts"
import { blobKeyOf, isBlobKey, newBlobKey, requireBlobKey } from "./blob-key.ts"
import { createHashes, RunningHash } from "./disk/hashes.ts"
import { writeAll } from "./disk/write-all.ts"
import { within } from "./within.ts"

/**
 * Keeps blobs in `directory`, on a local file system: `aa/bb/<uuid>`, and `tmp/` for what is being
 * written. Several processes may share the directory.
 */
export async function openDiskBlobs(directory: string): Promise<Blobs> {
  const root = resolve(directory)
  const temporary = join(root, "tmp")
  const firstMade = await mkdir(temporary, { recursive: true, mode: 0o700 })
  if (firstMade) await syncDirectory(dirname(firstMade))
  await syncDirectory(root)
  const durable = new Map<string, Promise<void>>()
  const hashes = createHashes()

  /** Moves a complete, durable temporary file into place. */
  async function store({ path, temporaryPath }: Place) {
    await makeDurable(durable, root, dirname(path))
    await rename(temporaryPath, path)
    await syncDirectory(dirname(path))
  }

  const blobs: Blobs = {
    newKey: newBlobKey,

    async put(key, bytes, { limit }) {
      const place = locate(root, key)
      const file = await open(place.temporaryPath, "wx", 0o600)
      try {
        const hash = new RunningHash()
        const size = await writeAndClose(file, 0, within(limit, bytes), hash)
        await store(place)
        return { size, sha256: hash.digest() }
      } catch (error) {
        await rm(place.temporaryPath, { force: true })
        throw error
      }
    },

    async append(key, offset, bytes) {
      const { path, temporaryPath } = locate(root, key)
      const file = await openUnfinished(path, temporaryPath, offset)
      let hash: RunningHash | null
      try {
        const found = await file.stat()
        if (found.size !== offset) throw new Error(`${key} ends at ${found.size}, not at ${offset}.`)
        hash = offset === 0 ? new RunningHash() : hashes.take(key, found)
        if (offset === 0) await syncDirectory(temporary)
      } catch (error) {
        await file.close()
        throw error
      }
      try {
        return await writeAndClose(file, offset, bytes, hash)
      } finally {
        const left = await statExisting(temporaryPath)
        if (hash && left) hashes.keep(key, hash, left)
      }
    },

    async sizeOf(key) {
      const { path, temporaryPath } = locate(root, key)
      const file = (await openExisting(temporaryPath)) ?? (await openExisting(path))
      if (!file) return 0
      try {
        // The process that wrote the last of it may have died before it synced.
        await file.sync()
        return (await file.stat()).size
      } finally {
        await file.close()
      }
    },

    async finish(key) {
      const place = locate(root, key)
      const unfinished = await openExisting(place.temporaryPath)
      const file = unfinished ?? (await openExisting(place.path))
      if (!file) throw new Error(`Nothing was ever appended to ${key}.`)
      try {
        await file.sync()
        const found = await file.stat()
        const hash = hashes.take(key, found) ?? (await hashAll(file))
        if (unfinished) await store(place)
        return { size: found.size, sha256: hash.digest() }
      } finally {
        await file.close()
      }
    },

    async open(key, range) {
      const { path } = locate(root, key)
      const file = await openExisting(path)
      return file && file.createReadStream({ highWaterMark: 256 * 1024, ...range })
    },

    async storedSize(key) {
      return (await statExisting(locate(root, key).path))?.size ?? null
    },

    async remove(key) {
      const { path, temporaryPath } = locate(root, key)
      hashes.forget(key)
      await rm(temporaryPath, { force: true })
      await rm(path, { force: true })
    },

    async removeUnfinished(key) {
      hashes.forget(key)
      await rm(locate(root, key).temporaryPath, { force: true })
    },

    async *listJoins() {},

    async *list(state) {
      if (state === "unfinished") return yield* listIn(temporary)
      for await (const folder of foldersOf(root)) yield* listIn(folder)
    },
  }
  return {
    ...blobs,
    put: explaining(blobs.put),
    append: explaining(blobs.append),
    // It syncs, which a file system that was mounted read-only after an error refuses.
    sizeOf: explaining(blobs.sizeOf),
    finish: explaining(blobs.finish),
    remove: explaining(blobs.remove),
    removeUnfinished: explaining(blobs.removeUnfinished),
  }
}

/** The same function, which throws a refusal for a disk that is full or may not be written to. */
function explaining<Given extends unknown[], Result>(act: (...given: Given) => Promise<Result>) {
  return async (...given: Given): Promise<Result> => {
    try {
      return await act(...given)
    } catch (error) {
      if (FULL.has(codeOf(error))) throw new OutOfSpace("disk-full")
      if (!REFUSED.has(codeOf(error))) throw error
      throw Object.assign(new Unavailable("file-store-refuses"), { cause: error })
    }
  }
}

const FULL = new Set(["ENOSPC", "EDQUOT"])
const REFUSED = new Set(["EROFS", "EACCES", "EPERM"])

interface Place {
  path: string
  temporaryPath: string
}

function locate(root: string, key: string): Place {
  requireBlobKey(key)
  return { path: join(root, key), temporaryPath: join(root, "tmp", key.slice(6)) }
}

async function openUnfinished(path: string, temporaryPath: string, offset: number): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_NOFOLLOW
  if (offset > 0) return open(temporaryPath, flags)
  const stored = await openExisting(path)
  await stored?.close()
  if (stored) throw new Error(`${path} is already stored. Stored blobs never change.`)
  return open(temporaryPath, flags | constants.O_CREAT, 0o600)
}

/** The file's size, once it is durable. What arrived before an error is durable too. */
async function writeAndClose(
  file: FileHandle,
  offset: number,
  bytes: AsyncIterable<Uint8Array>,
  hash: RunningHash | null,
): Promise<number> {
  try {
    return await writeAll(file, offset, bytes, (chunk) => hash?.update(chunk))
  } finally {
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  }
}

async function hashAll(file: FileHandle): Promise<RunningHash> {
  const hash = new RunningHash()
  const stream = file.createReadStream({ start: 0, highWaterMark: 256 * 1024, autoClose: false })
  for await (const chunk of stream as AsyncIterable<Uint8Array>) hash.update(chunk)
  return hash
}

/** Creates `aa/bb` durably, once per process; concurrent callers wait for the same promise. */
function makeDurable(durable: Map<string, Promise<void>>, root: string, directory: string): Promise<void> {
  const known = durable.get(directory)
  if (known) return known
  const made = (async () => {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await syncDirectory(dirname(directory))
    await syncDirectory(root)
  })()
  durable.set(directory, made)
  made.catch(() => durable.delete(directory))
  return made
}

async function syncDirectory(path: string) {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function openExisting(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null
    throw error
  }
}

async function* foldersOf(root: string) {
  for await (const first of await opendir(root)) {
    if (!/^[0-9a-f]{2}$/.test(first.name) || !first.isDirectory()) continue
    for await (const second of await opendir(join(root, first.name))) {
      if (/^[0-9a-f]{2}$/.test(second.name)) yield join(root, first.name, second.name)
    }
  }
}

async function* listIn(directory: string): AsyncGenerator<ListedBlob> {
  for await (const entry of await opendir(directory)) {
    const key = blobKeyOf(entry.name)
    if (!isBlobKey(key) || !entry.isFile()) continue
    const found = await statExisting(join(directory, entry.name))
    if (found) yield { key, size: found.size, modifiedAt: found.mtimeMs }
  }
}

async function statExisting(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null
    throw error
  }
}

function codeOf(error: unknown) {
  return error instanceof Error && "code" in error ? String(error.code) : ""
}
