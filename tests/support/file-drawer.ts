import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { blobs, fileUsage, uploads } from "#db/schema/files.ts"
import { spaces } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { readConfig } from "#server/config.ts"
import type { Database } from "#db/client.ts"
import { openUploadLocks } from "#server/files/upload-locks.ts"
import { openUploadProgress } from "#server/files/upload-progress.ts"
import { openRunningRequests } from "#server/running-requests.ts"
import { announce } from "#server/live.ts"
import { openLog } from "#server/log.ts"
import type { Viewer } from "#server/scope.ts"
import { createTestDatabase } from "./postgres.ts"
import { pathsIn } from "./stored-paths.ts"

/**
 * What the file functions need: a real database, a real disk, and settings. `scopeOf` adds another
 * user.
 */
export async function openFileDrawer(settings: Record<string, string> = {}) {
  const database = await createTestDatabase()
  const directory = mkdtempSync(join(tmpdir(), "files-"))
  const config = readConfig({ AUTH_SECRET: "a secret for tests, and for nothing else", ...settings })
  const log = openLog("silent")
  const services = {
    config,
    log,
    process: 1,
    db: database.db,
    blobs: await openDiskBlobs(directory),
    runningRequests: openRunningRequests(),
    uploadProgress: openUploadProgress({ live: { sendToMembers: () => false }, log }),
    uploadLocks: openUploadLocks({ announce, config, log, db: database.db }, database.url),
    afterCommit: (effect: (db: Database) => Promise<void>) => effect(database.db),
  }
  return {
    ...services,
    databaseUrl: database.url,
    directory,
    async scopeOf(name: string, plan: "free" | "pro" = "free") {
      const [user] = await database.db
        .insert(users)
        .values({ clerkId: `user_${name}`, email: `${name}@example.org`, plan })
        .returning()
      if (!user) throw new Error("No user was made.")
      const session = { userId: user.clerkId, sessionId: null, plan, via: "cookie" } as const
      const viewer: Viewer = { user, session }
      return { ...services, viewer }
    },
    /** The paths of all stored blobs, whole or not. */
    storedPaths: () => pathsIn(directory),
    async usage() {
      const rows = await database.db
        .select({ used: fileUsage.used, reserved: fileUsage.reserved })
        .from(fileUsage)
      return rows
    },
    /** Removes all users, spaces and everything stored. */
    async empty() {
      // To truncate these tables with all that refer to them takes a hundred times as long.
      for (const table of [spaces, users, uploads, blobs]) await database.db.delete(table)
      for (const path of await pathsIn(directory)) rmSync(path)
    },
    async close() {
      await services.uploadLocks.close()
      await database.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export type FileDrawer = Awaited<ReturnType<typeof openFileDrawer>>

/** An incoming file of a known size. */
export function aFile(fileName: string, content: string | Buffer = `What ${fileName} holds.`) {
  const bytes = Buffer.from(content)
  return { fileName, bytes: inPieces(bytes), size: { exactly: bytes.length } }
}

export async function* inPieces(bytes: Buffer, size = 16 * 1024) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}
