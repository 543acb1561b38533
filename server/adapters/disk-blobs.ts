import { createHash, randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import type { Blobs } from "../ports/blobs.ts"
import { OutOfSpace, TooLarge } from "../errors.ts"

/** Milliseconds. What is older was left by a process that died; another process may be writing what is younger. */
const ABANDONED_AFTER = 24 * 60 * 60 * 1000

const KEY = /^([0-9a-f]{2})\/([0-9a-f]{2})\/\1\2[0-9a-f]{4}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Keeps blobs in `directory`, on a local file system: `aa/bb/<uuid>`, and `tmp/` for what is being written.
 * Several processes may share the directory.
 */
export async function openDiskBlobs(directory: string): Promise<Blobs> {
  const root = resolve(directory)
  const temporary = join(root, "tmp")
  const firstMade = await mkdir(temporary, { recursive: true, mode: 0o700 })
  if (firstMade) await syncDirectory(dirname(firstMade))
  await syncDirectory(root)
  await sweepAbandoned(temporary)
  const durable = new Map<string, Promise<void>>()

  return {
    newKey() {
      const id = randomUUID()
      return `${id.slice(0, 2)}/${id.slice(2, 4)}/${id}`
    },

    async put(key, bytes, { limit }) {
      const { path, temporaryPath } = locate(root, key)
      const file = await open(temporaryPath, "wx", 0o600)
      try {
        const stored = await writeAll(file, bytes, limit)
        await makeDurable(durable, root, dirname(path))
        await rename(temporaryPath, path)
        await syncDirectory(dirname(path))
        return stored
      } catch (error) {
        await rm(temporaryPath, { force: true })
        throw isFull(error) ? new OutOfSpace("The server has no room for these bytes.") : error
      }
    },

    async open(key, range) {
      const { path } = locate(root, key)
      const file = await openExisting(path)
      return file && file.createReadStream({ highWaterMark: 256 * 1024, ...range })
    },

    async remove(key) {
      const { path, temporaryPath } = locate(root, key)
      await rm(temporaryPath, { force: true })
      await rm(path, { force: true })
    },
  }
}

/** Throws for a key that this store did not make: nothing a user sends can become a path. */
function locate(root: string, key: string) {
  if (!KEY.test(key)) throw new Error(`${JSON.stringify(key)} is no key of the blob store.`)
  return { path: join(root, key), temporaryPath: join(root, "tmp", key.slice(6)) }
}

async function writeAll(file: FileHandle, bytes: AsyncIterable<Uint8Array>, limit: number) {
  const hash = createHash("sha256")
  let size = 0
  try {
    for await (const chunk of bytes) {
      size += chunk.byteLength
      if (size > limit) throw new TooLarge(`There are more than ${limit} bytes.`)
      hash.update(chunk)
      await writeChunk(file, chunk)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { size, sha256: hash.digest("hex") }
}

/** A write may take less than it was given: on a disk that is almost full, for one. */
async function writeChunk(file: FileHandle, chunk: Uint8Array) {
  for (let offset = 0; offset < chunk.byteLength;) {
    const { bytesWritten } = await file.write(chunk, offset)
    offset += bytesWritten
  }
}

/** Makes `aa/bb` such that it survives a power cut, once per process; whoever comes meanwhile waits for the same. */
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

async function sweepAbandoned(temporary: string) {
  for (const name of await readdir(temporary)) {
    const path = join(temporary, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (mtimeMs < Date.now() - ABANDONED_AFTER) await rm(path, { force: true })
  }
}

function isFull(error: unknown) {
  return ["ENOSPC", "EDQUOT"].includes(codeOf(error))
}

function codeOf(error: unknown) {
  return error instanceof Error && "code" in error ? String(error.code) : ""
}
