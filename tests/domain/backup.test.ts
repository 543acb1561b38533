import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { eq, sql } from "drizzle-orm"
import { describe, expect, it, onTestFinished } from "vitest"
import { withDump } from "#db/dump/write.ts"
import { migrate } from "#db/migrate.ts"
import { blobs, files } from "#db/schema/files.ts"
import { users } from "#db/schema/users.ts"
import { openS3Blobs } from "#server/adapters/blobs/s3.ts"
import { listBackups } from "#server/backup/folder.ts"
import { backupInFolder } from "#server/backup/stored-backup.ts"
import { verifyBackup } from "#server/backup/verify.ts"
import { checkFiles } from "#server/files/check.ts"
import { findFile } from "#server/files/files.ts"
import { GRACE, sweep } from "#server/files/sweep.ts"
import { emptyTrash, trashFile } from "#server/files/trash.ts"
import { uploadFile } from "#server/files/upload.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import { inAll } from "../support/all.ts"
import { aFolder, digestsOf, keysOf, migrations, openNewPlace, openShelf } from "../support/backups.ts"
import { aFile } from "../support/file-drawer.ts"
import { startS3 } from "../support/s3.ts"
import { withDrawer } from "../support/with-drawer.ts"

const root = resolve(import.meta.dirname, "../..")

const { drawer, ada } = withDrawer({ settings: { FILES_QUOTA_FREE: "1GB" }, people: { ada: "free" } })

describe("a backup", () => {
  it("contains every row and every file of one moment, also those deleted permanently while it is written", async () => {
    await fillEveryKind()
    const purged = await uploadFile(ada, aFile("purged.txt"))
    await uploadFile(ada, aFile("kept.txt"))
    const before = await digestsOf(drawer.db)
    const keys = await keysOf(drawer.blobs)
    const shelf = await openShelf()
    const source = atFirstOpen(async () => {
      await trashFile(ada, purged._id)
      await emptyTrash(ada)
      await sweep(drawer, Date.now() + 2 * GRACE)
      await uploadFile(ada, aFile("later.txt"))
    })

    const backup = await shelf.take({ ...drawer, blobs: source })
    expect(await drawer.db.$count(files, eq(files._id, purged._id))).toBe(0)
    await sweep(drawer, Date.now() + 2 * GRACE)
    expect(await bytesOf(drawer.blobs, backup.manifest.blobs.count, keys)).toContain(null)

    const place = await openNewPlace()
    await place.restore(backup.folder, shelf)
    // The keys for realtime tokens are generated again.
    expect(await digestsOf(place.db)).toEqual({ ...before, "auth.jwks": "0 " })
    expect(await keysOf(place.blobs)).toEqual(keys)
    for await (const finding of checkFiles(
      { ...drawer, db: place.db, blobs: place.blobs },
      { checksums: true },
    )) {
      expect.fail(finding.text)
    }
  })

  it(
    "is consistent under many writers: a transaction is in it completely or not at all",
    { timeout: 60_000 },
    async () => {
      const shelf = await openShelf()
      let writing = true
      const counts = { 1: 0, 2: 0, 3: 0 }
      const write = async (writer: 1 | 2 | 3) => {
        const scope = await drawer.scopeOf(`writer-${writer}`)
        while (writing) {
          const number = ++counts[writer]
          const file = await uploadFile(scope, aFile(`${number}.txt`, `${writer} wrote ${number}`))
          // Two tables hold the same number in every commit.
          await drawer.db.transaction(async (tx) => {
            await tx
              .update(files)
              .set({ mimeType: `text/x-${number}` })
              .where(eq(files._id, file._id))
            await tx
              .update(users)
              .set({ name: String(number) })
              .where(eq(users._id, scope.viewer.user._id))
          })
          if (number % 3 === 0) {
            await trashFile(scope, file._id)
            await emptyTrash(scope)
          }
        }
      }
      onTestFinished(() => void (writing = false))
      const writers = ([1, 2, 3] as const).map(write)
      await expect.poll(() => Math.min(...Object.values(counts)), { timeout: 25_000 }).toBeGreaterThan(4)
      const backups = [await shelf.take(drawer), await shelf.take(drawer)]
      writing = false
      await Promise.all(writers)

      for (const { folder, manifest } of backups) {
        const place = await openNewPlace()
        await place.restore(folder, shelf)
        for await (const finding of checkFiles(
          { ...drawer, db: place.db, blobs: place.blobs },
          { checksums: true },
        )) {
          expect.fail(finding.text)
        }
        const apart = await place.db.execute(sql`
        select users.name, max(substr(mime_type, 8)::int) from users join files on user_id = users._id
        where mime_type like 'text/x-%' group by users._id having max(substr(mime_type, 8)::int) > users.name::int`)
        expect(apart).toEqual([])
        expect(manifest.blobs.count).toBeGreaterThan(6)
        for (const row of await place.db
          .select()
          .from(files)
          .innerJoin(blobs, eq(blobs._id, files.storageId))) {
          const stream = await place.blobs.open(row.blobs.key)
          const text = stream && (await buffer(stream)).toString()
          expect(text).toMatch(new RegExp(`^[123] wrote ${row.files.fileName.replace(".txt", "")}$`))
        }
      }
    },
  )

  it("does not copy bytes again that the folder has, and copies those again that the disk changed", async () => {
    const shelf = await openShelf()
    await uploadFile(ada, aFile("first.txt"))
    expect((await shelf.take(drawer)).copied).toBe(1)
    await uploadFile(ada, aFile("second.txt"))
    expect((await shelf.take(drawer)).copied).toBe(1)
    const [key = ""] = await keysOf(shelf.kept)
    writeFileSync(join(shelf.directory, "blobs", key), "something else")
    const { folder, copied } = await shelf.take(drawer)
    expect(copied).toBe(1)
    await verifyBackup(shelf.stored(folder))
  })

  it("is readable by its owner only, and contains AUTH_SECRET only on request", async () => {
    const shelf = await openShelf()
    await uploadFile(ada, aFile("a.txt"))
    const { folder } = await shelf.take(drawer)
    for (const entry of readdirSync(shelf.directory, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      expect([path, statSync(path).mode & 0o077]).toEqual([path, 0])
      if (entry.isFile()) expect(readFileSync(path, "utf8")).not.toContain(drawer.config.identity.authSecret)
    }
    expect(existsSync(join(folder, "secrets.env"))).toBe(false)
    const { folder: second } = await shelf.take(drawer, { secret: "a secret" })
    expect(readFileSync(join(second, "secrets.env"), "utf8")).toBe("AUTH_SECRET=a secret\n")
  })

  it("does not start while another one runs", async () => {
    const shelf = await openShelf()
    await uploadFile(ada, aFile("a.txt"))
    const second = await openShelf()
    const source = atFirstOpen(async () => {
      await expect(second.take(drawer)).rejects.toThrow("Another backup of this database is running.")
    })
    await shelf.take({ ...drawer, blobs: source })
    expect(await listBackups(second.directory)).toEqual([])
    await second.take(drawer)
  })

  it("lets the next one start as soon as it has ended, complete or not", async () => {
    // More than fits the buffers between PostgreSQL and us.
    await drawer.db.execute(sql`
      insert into waitlist (email) select n || repeat('x', 200) || '@example.org' from generate_series(1, 50000) n`)
    onTestFinished(async () => void (await drawer.db.execute(sql`delete from waitlist`)))
    const { databaseUrl: url } = drawer
    const readWaitlist = (take: (lines: AsyncIterable<Uint8Array>) => Promise<void>) =>
      withDump(
        url,
        async (dump) => {
          const table = dump.tables.find(({ name }) => name === "waitlist")
          if (table) await dump.read(table, take)
        },
        () => Promise.resolve("complete"),
      )
    for (let round = 0; round < 5; round++) {
      const broken = readWaitlist(async (lines) => {
        for await (const line of lines) if (line.length > 0) throw new Error("The disk is full.")
      })
      await expect(broken).rejects.toThrow("The disk is full.")
      const whole = readWaitlist(async (lines) => {
        for await (const line of lines) if (line.length === 0) return
      })
      expect(await whole).toBe("complete")
    }
  })

  it("is refused if stored bytes are missing or damaged, unless told to continue without them", async () => {
    const shelf = await openShelf()
    const [missing, changed] = [
      await uploadFile(ada, aFile("missing.txt")),
      await uploadFile(ada, aFile("changed.txt")),
    ]
    await uploadFile(ada, aFile("whole.txt"))
    rmSync(await pathOf(missing))
    writeFileSync(await pathOf(changed), "What changed.txt hides.")
    await expect(shelf.take(drawer)).rejects.toThrow(
      /^The bytes of 2 files .* are missing or damaged in the store itself.*No backup was written\.$/,
    )
    expect(await listBackups(shelf.directory)).toEqual([])
    const { folder, manifest } = await shelf.take(drawer, { skipLost: true })
    expect(manifest.blobs).toMatchObject({ count: 3, lost: [expect.any(String), expect.any(String)] })
    const place = await openNewPlace()
    await place.restore(folder, shelf)
    expect(await keysOf(place.blobs)).toHaveLength(1)
  })

  it("leaves nothing that looks like a backup if its process is killed, and the next one cleans up", async () => {
    const file = await uploadFile(ada, aFile("a.txt"))
    const [path, bytes] = [await pathOf(file), readFileSync(await pathOf(file))]
    rmSync(path)
    // Opening it blocks until somebody writes.
    execFileSync("mkfifo", [path])
    const directory = aFolder()
    const command = spawn(process.execPath, [join(root, "server/commands/backup.ts"), directory], {
      cwd: aFolder(),
      stdio: "ignore",
      env: {
        PATH: process.env["PATH"],
        DATABASE_URL: drawer.databaseUrl,
        BLOBS_URL: `file://${drawer.directory}`,
        AUTH_SECRET: drawer.config.identity.authSecret,
      },
    })
    onTestFinished(() => void command.kill("SIGKILL"))
    const unfinished = () => readdirSync(directory).filter((name) => name.startsWith("unfinished-"))
    await expect
      .poll(() => command.exitCode ?? unfinished().flatMap((name) => readdirSync(join(directory, name))), {
        timeout: 60_000,
      })
      .toContain("blobs.tsv")
    command.kill("SIGKILL")
    await once(command, "close")
    expect(await listBackups(directory)).toEqual([])
    expect(unfinished()).toHaveLength(1)

    rmSync(path)
    writeFileSync(path, bytes)
    const shelf = await openShelf(directory)
    // PostgreSQL has to notice that the first one is gone.
    const locked = sql`select 1 from pg_locks where locktype = 'advisory' and objid = 7185393
      and database = (select oid from pg_database where datname = current_database())`
    await expect.poll(async () => (await drawer.db.execute(locked)).length).toBe(0)
    const { folder } = await shelf.take(drawer)
    expect(unfinished()).toEqual([])
    await verifyBackup(shelf.stored(folder))
  })

  it("is pruned when there are enough newer ones, along with the bytes that only it used", async () => {
    const shelf = await openShelf()
    const old = await uploadFile(ada, aFile("old.txt"))
    await uploadFile(ada, aFile("kept.txt"))
    await shelf.take(drawer)
    await trashFile(ada, old._id)
    await emptyTrash(ada)
    const second = await shelf.take(drawer, { keep: { newest: 2 } })
    expect(second.removed).toBe(0)
    expect(await keysOf(shelf.kept)).toHaveLength(2)
    const third = await shelf.take(drawer, { keep: { newest: 2 } })
    expect(third.removed).toBe(1)
    expect(await keysOf(shelf.kept)).toHaveLength(1)
    for (const { folder } of [second, third]) await verifyBackup(shelf.stored(folder))
  })

  it("is not pruned by mistake if the clock ran backwards", async () => {
    const shelf = await openShelf()
    const { folder: earlier } = await shelf.take(drawer)
    const manifest = join(earlier, "manifest.json")
    const said = readFileSync(manifest, "utf8")
    writeFileSync(manifest, said.replace(/"takenAt": "[^"]+"/, '"takenAt": "2099-01-01T00:00:00.000Z"'))
    renameSync(earlier, join(shelf.directory, "2099-01-01T00-00-00-000Z"))
    const { folder } = await shelf.take(drawer, { keep: { newest: 1 } })
    expect(await listBackups(shelf.directory)).toEqual([basename(folder)])
  })

  it("does not start in a folder that holds another database's backups, so no bytes are lost", async () => {
    const shelf = await openShelf()
    await uploadFile(ada, aFile("a.txt"))
    const other = await openNewPlace()
    await migrate(other.url, migrations)
    const intruder = { databaseUrl: other.url, blobs: other.blobs }
    const source = atFirstOpen(async () => {
      await expect(shelf.take(intruder, { keep: { newest: 1 } })).rejects.toThrow(
        /^Another backup is being written into .*Wait for it to end\.$/,
      )
    })
    const { folder } = await shelf.take({ ...drawer, blobs: source })
    await verifyBackup(shelf.stored(folder))
    await expect(shelf.take(intruder)).rejects.toThrow(/has the backups of another database/)
  })

  it("is kept, like all others, if one of them does not say when it was taken", async () => {
    const shelf = await openShelf()
    const { folder } = await shelf.take(drawer)
    await shelf.take(drawer)
    writeFileSync(join(folder, "manifest.json"), "{")
    await expect(shelf.take(drawer, { keep: { newest: 1 } })).rejects.toThrow(
      /is written and complete, but .*manifest\.json/,
    )
    expect(await listBackups(shelf.directory)).toHaveLength(3)
  })

  it("includes tables and sequences of any name that are not Tideline's", async () => {
    await own(`create table "report-2024" (n int); create table "größe/😀 ""x""" (n int primary key)`)
    await own(`create sequence "next-one"; insert into "report-2024" values (1)`)
    const shelf = await openShelf()
    const { folder } = await shelf.take(drawer)
    await verifyBackup(shelf.stored(folder))
    const place = await openNewPlace()
    const { foreign } = await place.restore(folder, shelf)
    expect(foreign.map(({ name }) => name)).toEqual(['größe/😀 "x"', "report-2024"])
  })

  it("names a table that it may not read, in whole or in part", async () => {
    await own(`create table unread (n int); create table hidden (n int); alter table hidden enable row level security;
      create role backup_reader; grant usage on schema auth, drizzle to backup_reader;
      grant select on all tables in schema public, auth, drizzle to backup_reader;
      grant select on all sequences in schema public, auth to backup_reader; revoke select on unread from backup_reader`)
    onTestFinished(async () => {
      await drawer.db.execute("drop owned by backup_reader; drop role backup_reader")
    })
    const reader = { ...drawer, databaseUrl: `${drawer.databaseUrl}?role=backup_reader` }
    const shelf = await openShelf()
    await expect(shelf.take(reader)).rejects.toThrow('may not read all of "public"."unread".')
    await drawer.db.execute("grant select on unread to backup_reader")
    await expect(shelf.take(reader)).rejects.toThrow('may not read all of "public"."hidden".')
    expect(await listBackups(shelf.directory)).toEqual([])
  })

  it("contains rows that a concurrent truncate would remove, and does not block Tideline from starting", async () => {
    await own("create table emptied (n int); insert into emptied values (1)")
    let emptying: Promise<unknown> = Promise.resolve()
    const rows = await withDump(
      drawer.databaseUrl,
      async (dump) => {
        await migrate(drawer.databaseUrl, migrations)
        emptying = Promise.resolve(drawer.db.execute("truncate emptied"))
        const waits = sql`select 1 from pg_locks where relation = 'emptied'::regclass and not granted`
        await Promise.race([
          emptying,
          expect.poll(async () => (await drawer.db.execute(waits)).length).toBeGreaterThan(0),
        ])
        const table = dump.tables.find(({ name }) => name === "emptied")
        return table && dump.read(table, async (lines) => (await buffer(lines)).toString())
      },
      async (written) => written,
    )
    expect(rows).toBe("1\n")
    await emptying
  })

  it("counts bytes as lost if the disk cannot read them, and copies its own unreadable ones again", async () => {
    const shelf = await openShelf()
    await uploadFile(ada, aFile("bad.txt"))
    await uploadFile(ada, aFile("good.txt"))
    const [bad = ""] = await keysOf(drawer.blobs)
    const source = withBadSector(drawer.blobs, bad)
    await expect(shelf.take({ ...drawer, blobs: source })).rejects.toThrow(
      `The bytes of ${bad} are missing or damaged`,
    )
    const { manifest } = await shelf.take({ ...drawer, blobs: source }, { skipLost: true })
    expect(manifest.blobs.lost).toEqual([bad])

    const { folder } = await shelf.take(drawer)
    const kept = withBadSector(shelf.kept, bad)
    await expect(verifyBackup(backupInFolder(folder, kept))).rejects.toThrow(
      `blobs/${bad} is missing or damaged.`,
    )
    expect((await shelf.take(drawer, { openFolder: async () => kept })).copied).toBe(1)
  })
})

describe("a backup from a bucket", () => {
  const s3 = startS3()

  inAll("can be restored into another bucket", async () => {
    await s3.emptyBucket()
    const bucket = await openS3Blobs(s3.settings())
    await uploadFile({ ...ada, blobs: bucket }, aFile("large.bin", Buffer.alloc(9 * 1024 * 1024, "large")))
    await uploadFile({ ...ada, blobs: bucket }, aFile("empty.txt", ""))
    const shelf = await openShelf()
    const { folder } = await shelf.take({ ...drawer, blobs: bucket })
    const keys = await keysOf(bucket)
    await s3.emptyBucket()
    const other = await openS3Blobs(s3.settings())
    const place = await openNewPlace()
    await place.restore(folder, shelf, { blobs: other })
    expect(await keysOf(other)).toEqual(keys)
    for await (const finding of checkFiles({ ...drawer, db: place.db, blobs: other }, { checksums: true })) {
      expect.fail(finding.text)
    }
  })
})

/** The drawer's store, with a callback on its first read: the rows have been read by then. */
function atFirstOpen(act: () => Promise<void>): Blobs {
  let acting: Promise<void> | undefined
  return {
    ...drawer.blobs,
    async open(key, range) {
      await (acting ??= act())
      return drawer.blobs.open(key, range)
    },
  }
}

/** The same store on a disk that cannot read the end of this blob. */
function withBadSector(store: Blobs, key: string): Blobs {
  return {
    ...store,
    async open(asked, range) {
      const stream = await store.open(asked, range)
      if (!stream || asked !== key) return stream
      stream.destroy()
      const failing = new Readable({ read() {} })
      failing.push("A")
      process.nextTick(() =>
        failing.destroy(Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" })),
      )
      return failing
    },
  }
}

/** Creates objects beside Tideline's tables, as an operator might, for this test. */
async function own(statements: string) {
  await drawer.db.execute(statements)
  const made = [...statements.matchAll(/create (table|sequence) ("(?:[^"]|"")+"|\w+)/g)]
  onTestFinished(async () => {
    for (const [, kind, name] of made) await drawer.db.execute(`drop ${kind} ${name}`)
  })
}

async function bytesOf(store: Blobs, count: number, keys: string[]) {
  expect(keys).toHaveLength(count)
  return Promise.all(keys.map(async (key) => (await store.open(key))?.destroy() ?? null))
}

async function pathOf({ _id }: { _id: string }) {
  const { key } = await findFile(ada, _id)
  return join(drawer.directory, key)
}

/** Texts that COPY has to escape, bytes, times, JSON, nulls. */
async function fillEveryKind() {
  await drawer.db.execute(sql`
    insert into auth."user" (id, name, email) values ('u1', e'Zoë\\t\\\\\\n"N"', 'zoe@example.org'), ('u10', '\\N', 'n@example.org');
    insert into auth.session (id, token, user_id, expires_at) values ('s', 't', 'u1', now() + interval '1 day');
    insert into auth.picture values ('u1', gen_random_uuid(), '\\x00ff0a5c');
    insert into auth.jwks (id, public_key, private_key, created_at) values ('k', 'p', 's', now());
    insert into chat_threads (user_id, title, last_message_at) select _id, 'Tides 🌊', 1 from users;
    insert into chat_messages (user_id, thread_id, role, content, attachments)
      select user_id, _id, 'user', e'a\\r\\n\\tb\\\\', '[{"a": 1.0}]' from chat_threads;
    insert into operator_acts (act) values ('invite')`)
}
