import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { setTimeout as pause } from "node:timers/promises"
import { eq, sql } from "drizzle-orm"
import { onTestFinished } from "vitest"
import { openDatabase, type Database } from "#db/client.ts"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { findAccount, ownEverything } from "#db/embedded/account.ts"
import { identify } from "#db/installation.ts"
import { migrate } from "#db/migrate.ts"
import { blobs as blobRows, files } from "#db/schema/files.ts"
import { users } from "#db/schema/users.ts"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { historyIn } from "#server/backup-config.ts"
import { takeBase } from "#server/backup/history/bases.ts"
import { copyingRemoved, historyBlobsIn } from "#server/backup/history/blobs.ts"
import { openArchive, startKeepingHistory } from "#server/backup/history/keep-history.ts"
import { finishMoment, prepareMoment, restoreMoment } from "#server/backup/history/recover-moment.ts"
import { claimPlace, ownedFolder } from "#server/backup/owner.ts"
import { readConfig } from "#server/config.ts"
import { purgeFile, trashFile } from "#server/files/trash.ts"
import { uploadFile, type IncomingFile } from "#server/files/upload.ts"
import { openUploadProgress } from "#server/files/upload-progress.ts"
import { openRunningRequests } from "#server/running-requests.ts"
import { openLog } from "#server/log.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import type { Viewer } from "#server/scope.ts"
import { aFolder, digestsOf, keysOf, migrations } from "./backups.ts"

interface Place {
  directory: string
  /** The folder of the embedded PostgreSQL. */
  database: string
  blobs: Blobs
}

interface Restoring {
  keepSessions?: boolean
  history?: string
  before?: (place: Place) => Promise<void> | void
}

/** An installation with an embedded PostgreSQL that keeps its history, and one user. */
export async function openHistoryHome() {
  const directory = mkdtempSync(join(tmpdir(), "tideline-history-"))
  const historyFolder = historyIn(join(directory, "backups"))
  const cluster = join(directory, "postgres")
  const server = await startEmbeddedPostgres({
    directory: cluster,
    history: historyFolder,
    settings: { fsync: "off", shared_buffers: "32MB" },
  })
  await migrate(server.url, migrations)
  const { db, close } = openDatabase(server.url, { connections: 4 })
  const store = await openDiskBlobs(join(directory, "blobs"))
  const { archive, kept } = await openArchive(
    { directory: historyFolder, cluster: join(cluster, "data") },
    openDiskBlobs,
  )
  const blobs = copyingRemoved(store, kept)
  const log = openLog("silent")
  const config = readConfig({ AUTH_SECRET: "a secret for tests, and for nothing else" })
  const [user] = await db.insert(users).values({ clerkId: "user_ada", email: "ada@example.org" }).returning()
  if (!user) throw new Error("No user was made.")
  const viewer: Viewer = {
    user,
    session: { userId: user.clerkId, sessionId: null, plan: "free", via: "cookie" },
  }
  const scope = {
    db,
    blobs,
    log,
    process: 1,
    config,
    viewer,
    runningRequests: openRunningRequests(),
    uploadProgress: openUploadProgress({ live: { sendToMembers: () => false }, log }),
    afterCommit: (effect: (db: Database) => Promise<void>) => effect(db),
  }
  const copies = await openDiskBlobs(historyBlobsIn(archive))
  let newest: Place | undefined
  await kept.copyNew({ db, blobs: store })
  await takeBase(server.url, archive)

  await claimPlace(ownedFolder(historyFolder), await identify(server.url))
  const home = {
    url: server.url,
    db,
    archive,
    kept,
    async upload(file: IncomingFile): Promise<string> {
      return (await uploadFile(scope, file)).fileName
    },
    async purge(name: string) {
      const [file] = await db.select().from(files).where(eq(files.fileName, name))
      if (!file) throw new Error(`There is no ${name}.`)
      await trashFile(scope, file._id)
      await purgeFile(scope, file._id)
    },
    async keyOf(name: string): Promise<string> {
      const [found] = await db
        .select({ key: blobRows.key })
        .from(files)
        .innerJoin(blobRows, eq(files.storageId, blobRows._id))
        .where(eq(files.fileName, name))
      if (!found) throw new Error(`There is no ${name}.`)
      return found.key
    },
    hasCopy: async (key: string) => (await copies.sizeOf(key)) > 0,
    loseCopy: (key: string) => copies.remove(key),
    async signIn() {
      await db.execute(sql`
        with person as (
          insert into auth.user (id, name, email, email_verified, created_at, updated_at)
          values ('ada', 'Ada', 'ada@example.org', true, now(), now()) returning id)
        insert into auth.session (id, token, user_id, expires_at, created_at, updated_at)
        select 'session', 'token', id, now() + interval '1 day', now(), now() from person`)
    },
    /** A moment after everything that was committed, and before everything that will be. */
    async moment(): Promise<number> {
      const [clock] = await db.execute<{ now: number }>(
        sql`select ceil(extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
      )
      await pause(3)
      return (clock?.now ?? 0) + 1
    },
    read: () => readState(db, store),
    /** What the process does every minute. */
    copy: () => kept.copyNew({ db, blobs: store }),
    /** What it does every day. */
    takeBase: () => takeBase(server.url, archive),
    /** What PostgreSQL does every minute. */
    async archiveAll() {
      await kept.copyNew({ db, blobs: store })
      // Otherwise there may be nothing to archive, and nothing to wait for.
      await db.execute(sql`select pg_logical_emit_message(true, 'test', '')`)
      const [switched] = await db.execute<{ segment: string }>(
        sql`select pg_walfile_name(pg_switch_wal()) as segment`,
      )
      for (;;) {
        const [archiver] = await db.execute<{ isDone: boolean }>(
          sql`select last_archived_wal >= ${switched?.segment} as "isDone" from pg_stat_archiver`,
        )
        if (archiver?.isDone) return
        await pause(20)
      }
    },
    start: () => startKeepingHistory({ db, blobs: store, log }, { archive, kept, url: server.url, days: 7 }),
    /** The place of the last restore. */
    newest(): Place {
      if (!newest) throw new Error("Nothing was restored.")
      return newest
    },
    async restore(
      moment: number | null,
      { keepSessions = false, history = historyFolder, before }: Restoring = {},
    ) {
      const folder = aFolder()
      const place = {
        directory: join(folder, "data"),
        database: join(folder, "data/postgres"),
        blobs: await openDiskBlobs(join(folder, "blobs")),
      }
      newest = place
      await before?.(place)
      const restored = await restoreMoment(history, moment, {
        ...place,
        migrations,
        keepSessions,
        continues: false,
        openFolder: openDiskBlobs,
      })
      const started = await startEmbeddedPostgres({
        directory: place.database,
        // Where a copy beside the original would archive too.
        history: historyFolder,
        settings: { fsync: "off" },
      })
      const opened = openDatabase(started.url, { connections: 2 })
      onTestFinished(async () => {
        await opened.close()
        await started.stop()
      })
      return { restored, url: started.url, db: opened.db, read: () => readState(opened.db, place.blobs) }
    },
    /** A folder for a PostgreSQL that is not ours, with an earlier cluster in it. */
    earlier() {
      const folder = aFolder()
      chmodSync(folder, 0o755)
      const database = join(folder, "postgres")
      mkdirSync(join(database, "data"), { recursive: true })
      copyFileSync(join(cluster, "password"), join(database, "password"))
      return { folder, database, cluster: join(database, "data") }
    },
    prepare: (moment: number | null, into: string) => prepareMoment(historyFolder, moment, into),
    /** Starts what was prepared. */
    async finish({ folder, database, cluster: into }: { folder: string; database: string; cluster: string }) {
      // As the image's entry point does.
      const account = findAccount(database)
      if (account) ownEverything(database, account)
      const started = await startEmbeddedPostgres({
        directory: database,
        // Its account may read the archive.
        history: historyFolder,
        settings: { fsync: "off" },
      })
      const opened = openDatabase(started.url, { connections: 2 })
      onTestFinished(async () => {
        await opened.close()
        await started.stop()
      })
      const blobsThere = await openDiskBlobs(join(folder, "blobs"))
      const finish = () =>
        finishMoment(historyFolder, into, {
          url: started.url,
          blobs: blobsThere,
          migrations,
          keepSessions: true,
          openFolder: openDiskBlobs,
        })
      return { finish, read: () => readState(opened.db, blobsThere) }
    },
    async close() {
      await close()
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  return home
}

export type HistoryHome = Awaited<ReturnType<typeof openHistoryHome>>

/** All rows, and the bytes of all files, sorted. */
async function readState(db: Database, store: Blobs) {
  const bytes: string[] = []
  for (const key of await keysOf(store)) {
    const stream = await store.open(key)
    if (stream) bytes.push((await buffer(stream)).toString("latin1"))
  }
  return { rows: await digestsOf(db), bytes: bytes.toSorted() }
}
