import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { sql } from "drizzle-orm"
import { beforeEach, describe, expect, it } from "vitest"
import { migrate } from "#db/migrate.ts"
import { tableFile } from "#server/backup/folder.ts"
import { restoreBytes } from "#server/backup/restore-bytes.ts"
import { OutOfSpace } from "#server/errors.ts"
import { uploadFile } from "#server/files/upload.ts"
import type { Manifest } from "#server/backup/manifest.ts"
import {
  aFolder,
  digestsOf,
  keysOf,
  migrations,
  openNewPlace,
  openShelf,
  type Shelf,
} from "../support/backups.ts"
import { inAll } from "../support/all.ts"
import { aFile } from "../support/file-drawer.ts"
import { withDrawer } from "../support/with-drawer.ts"

let shelf: Shelf
let folder: string

const { drawer, ada } = withDrawer({ people: { ada: "free" } })
beforeEach(async () => {
  for (const name of ["a.txt", "b.txt"]) await uploadFile(ada, aFile(name))
  shelf = await openShelf()
  ;({ folder } = await shelf.take(drawer))
})

describe("restoring the bytes of files alone", () => {
  it("puts back what is missing or damaged, leaves the rest, and takes no damaged copy", async () => {
    await uploadFile(ada, aFile("c.txt"))
    await shelf.take(drawer)
    const [lost = "", damaged = "", spoilt = ""] = await keysOf(shelf.kept)
    await uploadFile(ada, aFile("after the backup.txt"))
    const before = await keysOf(drawer.blobs)
    rmSync(join(drawer.directory, lost))
    writeFileSync(join(drawer.directory, damaged), "something else")
    rmSync(join(drawer.directory, spoilt))
    writeFileSync(join(shelf.directory, "blobs", spoilt), "a damaged copy")
    expect(await restored()).toEqual([lost, damaged].toSorted())
    expect(await keysOf(drawer.blobs)).toEqual(before.filter((key) => key !== spoilt))
    expect(await restored()).toEqual([])
  })
})

async function restored() {
  const keys: string[] = []
  for await (const key of restoreBytes(drawer, shelf.kept)) keys.push(key)
  return keys.toSorted()
}

describe("restoring", () => {
  it("refuses a database that a Tideline server has used, and changes nothing", async () => {
    const before = await digestsOf(drawer.db)
    const place = await openNewPlace()
    await migrate(place.url, migrations)
    await expect(place.restore(folder, shelf)).rejects.toThrow(
      /^The database is not empty: .* another DATABASE_URL, or another DATA_DIR .*Nothing was changed\.$/,
    )
    expect(await keysOf(place.blobs)).toEqual([])
    expect(await digestsOf(drawer.db)).toEqual(before)
  })

  it("refuses a store that contains anything else", async () => {
    const place = await openNewPlace()
    const key = place.blobs.newKey()
    await place.blobs.put(key, aFile("x", "somebody's").bytes, { limit: 100 })
    await expect(place.restore(folder, shelf)).rejects.toThrow(/^The store of files is not empty/)
    expect(await keysOf(place.blobs)).toEqual([key])
  })

  it("reports everything missing or damaged before it changes anything", async () => {
    const [lost = "", changed = ""] = await keysOf(shelf.kept)
    rmSync(join(shelf.directory, "blobs", lost))
    writeFileSync(join(shelf.directory, "blobs", changed), "What b.txt hides.")
    rmSync(table("waitlist"))
    const rows = gunzipSync(readFileSync(table("users"))).toString()
    writeFileSync(table("users"), gzipSync(rows.replace("ada@", "eve@")))
    truncateSync(table("files"), 20)
    const place = await openNewPlace()
    const refusal = await place.restore(folder, shelf).then(String, String)
    expect(refusal).toContain("is not whole. Nothing was changed; take another backup.")
    for (const part of [
      `blobs/${lost}`,
      `blobs/${changed}`,
      table("waitlist"),
      table("users"),
      table("files"),
    ]) {
      expect(refusal).toContain(part)
    }
    expect(await place.isEmpty()).toBe(true)
  })

  it("refuses a folder whose manifest is missing, cut short, or of a future format", async () => {
    const place = await openNewPlace()
    const path = join(folder, "manifest.json")
    const whole = readFileSync(path, "utf8")
    for (const [text, refusal] of [
      [whole.slice(0, whole.length / 2), "cannot be read"],
      ["{}", "is damaged"],
      [
        whole.replace('"format": 1', '"format": 2'),
        "has a format that this version of Tideline does not know",
      ],
      [whole.replace('"name": "users"', '"name": "../users"'), "public...%2Fusers.tsv.gz is missing"],
      [whole.replace('"name": "users"', '"name": ""'), "is damaged"],
    ] as const) {
      writeFileSync(path, text)
      await expect(place.restore(folder, shelf)).rejects.toThrow(refusal)
    }
    rmSync(path)
    await expect(place.restore(folder, shelf)).rejects.toThrow("this is not a backup, or it is damaged")
    expect(await place.isEmpty()).toBe(true)
  })

  it("refuses a modified list of bytes", async () => {
    const place = await openNewPlace()
    writeFileSync(join(folder, "blobs.tsv"), "")
    await expect(place.restore(folder, shelf)).rejects.toThrow("blobs.tsv is missing or damaged")
    expect(await place.isEmpty()).toBe(true)
  })

  it("refuses a newer version's backup, and migrates an older one", async () => {
    const newer = anotherVersion((journal) =>
      journal.push({ idx: 900, when: 4102444800000, tag: "0900_numbers" }),
    )
    writeFileSync(
      join(newer, "0900_numbers.sql"),
      "create table numbers (number integer generated by default as identity primary key, word text)",
    )
    const old = await openNewPlace()
    await old.restore(folder, shelf, { migrations: newer })
    await old.db.execute(sql`insert into numbers (word) values ('one'), ('two')`)
    const shelfOfNewer = await openShelf()
    const { folder: fromNewer } = await shelfOfNewer.take({ databaseUrl: old.url, blobs: old.blobs })

    const place = await openNewPlace()
    await expect(place.restore(fromNewer, shelfOfNewer)).rejects.toThrow(
      "was made by a newer Tideline than this one",
    )
    expect(await place.isEmpty()).toBe(true)
    await place.restore(fromNewer, shelfOfNewer, { migrations: newer })
    await place.db.execute(sql`insert into numbers (word) values ('three')`)
    expect(await place.db.execute(sql`select number, word from numbers order by number`)).toEqual([
      { number: 1, word: "one" },
      { number: 2, word: "two" },
      { number: 3, word: "three" },
    ])
  })

  it("leaves the installation empty if it fails, and can then start over", async () => {
    const place = await openNewPlace()
    let count = 0
    const full = {
      ...place.blobs,
      put: async (...given: Parameters<typeof place.blobs.put>) => {
        if (++count === 2) throw new OutOfSpace("disk-full")
        return place.blobs.put(...given)
      },
    }
    await expect(place.restore(folder, shelf, { blobs: full })).rejects.toThrow("no disk space left")
    expect(await place.isEmpty()).toBe(true)
    // Rows that the database itself rejects: PostgreSQL reports it after the last of them.
    const whole = readFileSync(table("files"))
    const manifest = readFileSync(join(folder, "manifest.json"), "utf8")
    const doubled = gunzipSync(whole).toString().repeat(2)
    writeFileSync(table("files"), gzipSync(doubled))
    rewriteManifest(await sha256(doubled), 4)
    await expect(place.restore(folder, shelf)).rejects.toThrow(
      "PostgreSQL did not accept the rows of public.files",
    )
    expect(await place.isEmpty()).toBe(true)

    // The installation itself, with another database as the target.
    const moving = place.restore(folder, shelf, { blobs: drawer.blobs })
    await expect(moving).rejects.toThrow("PostgreSQL did not accept the rows of public.files")
    expect(await keysOf(drawer.blobs)).toEqual(await keysOf(shelf.kept))

    writeFileSync(table("files"), whole)
    writeFileSync(join(folder, "manifest.json"), manifest)
    await place.restore(folder, shelf)
    expect(await digestsOf(place.db)).toEqual(await digestsOf(drawer.db))
  })

  inAll("continues after an interrupted restore that had already written bytes", async () => {
    const place = await openNewPlace()
    const [first = "", second = ""] = await keysOf(shelf.kept)
    await place.blobs.put(first, (await shelf.kept.open(first)) as AsyncIterable<Uint8Array>, { limit: 100 })
    writeFileSync(join(place.directory, "tmp", second.slice(6)), "half")
    await place.restore(folder, shelf)
    expect(await keysOf(place.blobs)).toEqual([first, second])
  })

  it("signs everyone out, unless the operator opts out", async () => {
    await drawer.db.execute(sql`
      insert into auth."user" (id, name, email) values ('u', 'Ada', 'ada@example.org') on conflict do nothing;
      insert into auth.session (id, token, user_id, expires_at) values ('s', 't', 'u', now() + interval '1 day') on conflict do nothing`)
    const { folder: another } = await shelf.take(drawer)
    const [signedOut, kept] = [await openNewPlace(), await openNewPlace()]
    await signedOut.restore(another, shelf, { keepSessions: false })
    await kept.restore(another, shelf, { keepSessions: true })
    const sessions = sql`select count(*)::int from auth.session`
    expect(await signedOut.db.execute(sessions)).toEqual([{ count: 0 }])
    expect(await kept.db.execute(sessions)).toEqual([{ count: 1 }])
  })
})

function table(name: string) {
  return join(folder, tableFile({ schema: "public", name }))
}

/** Updates the manifest for the changed rows of the files, as an attacker would. */
function rewriteManifest(digest: string, rows: number) {
  const path = join(folder, "manifest.json")
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest
  const tables = manifest.tables.map((each) =>
    each.name === "files" ? { ...each, sha256: digest, rows } : each,
  )
  writeFileSync(path, JSON.stringify({ ...manifest, tables }))
}

async function sha256(text: string) {
  return Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(text))).toString("hex")
}

interface Migration {
  idx: number
  when: number
  tag: string
}

/** The migrations of a Tideline with a different set. */
function anotherVersion(change: (journal: Migration[]) => void): string {
  const copy = aFolder()
  cpSync(migrations, copy, { recursive: true })
  const path = join(copy, "meta/_journal.json")
  const journal = JSON.parse(readFileSync(path, "utf8")) as { entries: Migration[] }
  change(journal.entries)
  writeFileSync(path, JSON.stringify(journal))
  return copy
}
