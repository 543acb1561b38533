import { spawn } from "node:child_process"
import { randomBytes, randomInt } from "node:crypto"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { sql } from "drizzle-orm"
import * as v from "valibot"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { segmentsIn } from "#db/embedded/wal-archive.ts"
import { identify } from "#db/installation.ts"
import { listBases, pruneBases } from "#server/backup/history/bases.ts"
import { Moment } from "#server/backup/history/moment.ts"
import { followHistory, readState, writeState } from "#server/backup/history/state.ts"
import { claimPlace, ownedFolder } from "#server/backup/owner.ts"
import { openLog } from "#server/log.ts"
import { inAll } from "../support/all.ts"
import { aFile } from "../support/file-drawer.ts"
import { openHistoryHome, type HistoryHome } from "../support/history-home.ts"
import { aFolder, keysOf } from "../support/backups.ts"

// The short form. The long one restores ten moments of many more writes: npm run test:history
const IS_LONG = process.env["HISTORY"] === "long"
const MOMENTS = IS_LONG ? 10 : 1
const WRITES = IS_LONG ? 2000 : 30
/** Milliseconds. */
const TIME = IS_LONG ? 1_200_000 : 120_000

let home: HistoryHome
beforeAll(async () => {
  home = await openHistoryHome()
}, TIME)
afterAll(() => home.close())

describe("a history", () => {
  it(
    "restores the rows and bytes of random moments exactly as they were",
    async () => {
      const names: string[] = []
      const recorded = new Set<number>()
      while (recorded.size < MOMENTS) recorded.add(randomInt(WRITES))
      const moments = []
      for (let write = 0; write < WRITES; write++) {
        if (write === WRITES / 2) await home.takeBase()
        const removed =
          names.length > 3 && randomInt(3) === 0 ? names.splice(randomInt(names.length), 1)[0] : undefined
        if (removed !== undefined) await home.purge(removed)
        else names.push(await home.upload(aFile(`tide ${write}.bin`, randomBytes(randomInt(1, 20_000)))))
        if (recorded.has(write)) moments.push({ at: await home.moment(), state: await home.read() })
      }
      await home.archiveAll()
      for (const { at, state } of moments) {
        const place = await home.restore(at)
        expect(place.restored).toMatchObject({ isReached: true, lost: [] })
        expect(await place.read()).toEqual(state)
      }
    },
    TIME,
  )

  inAll("restores what there is if the moment is later than the archive, and says so", async () => {
    await home.signIn()
    await home.archiveAll()
    const state = await home.read()
    const place = await home.restore(Date.now() + 60_000, { keepSessions: true })
    expect(place.restored).toMatchObject({ isReached: false, lost: [] })
    expect(await place.read()).toEqual(state)
  })

  it("is only read by what was restored beside the original, which is another installation", async () => {
    await home.archiveAll()
    const before = filesBelow(home.archive)
    const place = await home.restore(null)
    expect((await identify(place.url)).installation).not.toBe((await identify(home.url)).installation)
    const [server] = await place.db.execute<{ mode: string }>(
      sql`select current_setting('archive_mode') as mode`,
    )
    expect(server?.mode).toBe("off")
    await expect(
      claimPlace(ownedFolder(join(home.archive, "..")), await identify(place.url)),
    ).rejects.toThrow(/has the backups of another database.*--take-over$/)
    expect(filesBelow(home.archive)).toEqual(before)
  })

  it("ends every session, and names the files whose bytes it does not have", async () => {
    const name = await home.upload(aFile("lost.bin"))
    await home.archiveAll()
    await home.loseCopy(await home.keyOf(name))
    const { restored, db } = await home.restore(null)
    expect(restored.lost).toEqual([name])
    const [sessions] = await db.execute<{ count: number }>(sql`select count(*)::int from auth.session`)
    expect(sessions?.count).toBe(0)
    await home.purge(name)
  })

  inAll("is restored from a copy of its folder that was made while it was being written", async () => {
    await home.upload(aFile("carried away.txt", "to another machine"))
    const at = await home.moment()
    const state = await home.read()
    await home.archiveAll()
    const copy = join(aFolder(), "history")
    const writing = [
      home.takeBase(),
      home.upload(aFile("later.bin", randomBytes(500_000))),
      home.archiveAll(),
    ]
    // Other than that of Node, it goes on when a file gets another name in the meantime.
    const copying = spawn("cp", ["-a", join(home.archive, ".."), copy], { stdio: "ignore" })
    await once(copying, "exit")
    await Promise.all(writing)
    const place = await home.restore(at, { history: copy, keepSessions: true })
    expect(place.restored).toMatchObject({ isReached: true, lost: [] })
    expect(await place.read()).toEqual(state)
    for (const name of ["carried away.txt", "later.bin"]) await home.purge(name)
  })

  inAll("keeps the bytes of a file that is removed before they were copied", async () => {
    const name = await home.upload(aFile("short-lived.txt", "gone soon"))
    const at = await home.moment()
    await home.purge(name)
    await home.archiveAll()
    const place = await home.restore(at)
    expect(place.restored.lost).toEqual([])
    expect((await place.read()).bytes).toContain("gone soon")
  })
})

describe("a restore to a moment in a container", () => {
  inAll("prepares the folder, and PostgreSQL recovers when it starts", async () => {
    const name = await home.upload(aFile("contained.txt", "in a container"))
    const at = await home.moment()
    const state = await home.read()
    await home.purge(name)
    await home.archiveAll()
    const place = home.earlier()
    writeFileSync(join(place.cluster, "of the earlier cluster"), "")
    const aside = await home.prepare(at, place.cluster)
    expect(readdirSync(aside ?? "")).toEqual(["of the earlier cluster"])
    const { finish, read } = await home.finish(place)
    expect(await finish()).toEqual([])
    expect(await read()).toEqual(state)
    expect(readFileSync(join(place.cluster, "postgresql.auto.conf"), "utf8")).not.toContain("recovery")
    await expect(finish()).rejects.toThrow(
      /was not restored to a moment, or that is finished\. Nothing was changed\.$/,
    )
  })

  it("is refused while PostgreSQL runs, and for a moment that is not archived yet", async () => {
    const place = home.earlier()
    await expect(home.prepare(Date.now() + 60_000, place.cluster)).rejects.toThrow(
      /^The history ends at 20.*--to latest\. Nothing was changed\.$/,
    )
    writeFileSync(join(place.cluster, "postmaster.pid"), "1")
    await expect(home.prepare(null, place.cluster)).rejects.toThrow(/has a postmaster\.pid/)
    expect(readdirSync(place.database)).toEqual(["data", "password"])
  })
})

describe("the state of a history that a container keeps", () => {
  it("is followed by the processes, which notice when nobody writes it", async () => {
    const path = join(aFolder(), "history.json")
    expect(await readState(path)).toBeNull()
    await writeState(path, { behind: 0, since: 5 })
    const followed = followHistory({ log: openLog("silent") }, path)
    await expect.poll(() => followed.since()).toBe(5)
    expect(followed.behind()).toBe(0)
    await followed.stop()
    writeFileSync(path, JSON.stringify({ at: Date.now() - 600_000, behind: 0, since: 5 }))
    const late = followHistory({ log: openLog("silent") }, path)
    await expect.poll(() => late.behind()).toBeGreaterThanOrEqual(600_000)
    await late.stop()
  })
})

describe("a moment", () => {
  it.each([
    ["2026-11-22 14:03", "2026-11-22T14:03:00Z"],
    ["2026-11-22T14:03:20.5", "2026-11-22T14:03:20.500Z"],
    ["2026-11-22 14:03:20Z", "2026-11-22T14:03:20Z"],
    ["2026-11-22T15:03:20+01:00", "2026-11-22T14:03:20Z"],
  ])("is understood as it is written: %s", (text, expected) => {
    expect(v.parse(Moment, text)).toBe(Date.parse(expected))
  })

  it.each(["yesterday", "14:03", "2026-11-22", "2026-13-22 14:03", "22.11.2026 14:03", ""])(
    "is refused with an example: %s",
    (text) => {
      expect(v.safeParse(Moment, text).issues?.[0].message).toMatch(/"2026-11-22 14:03"/)
    },
  )

  it("can be the latest", () => expect(v.parse(Moment, "latest")).toBe("latest"))
})

describe("a restore to a moment", () => {
  it("refuses a moment before the history, and leaves nothing behind", async () => {
    await expect(home.restore(Date.parse("2020-01-01"))).rejects.toThrow(/^The history begins at 20\d\d-/)
    expect(existsSync(home.newest().directory)).toBe(false)
  })

  it("refuses a folder without a history", async () => {
    await expect(home.restore(null, { history: aFolder() })).rejects.toThrow(/^There is no history in /)
  })

  it("refuses an installation that has a database or files", async () => {
    await expect(
      home.restore(null, {
        before: ({ database }) => {
          mkdirSync(database, { recursive: true })
        },
      }),
    ).rejects.toThrow(/^There is a database in /)
    await expect(
      home.restore(null, {
        before: async ({ blobs }) =>
          void (await blobs.put(blobs.newKey(), aFile("a").bytes, { limit: 1000 })),
      }),
    ).rejects.toThrow(/^The store of files is not empty/)
  })

  it("refuses a damaged copy, and leaves neither rows nor bytes behind", async () => {
    const base = (await listBases(home.archive)).at(-1)!
    truncateSync(join(base.folder, "global/pg_control.zst"), 10)
    await expect(home.restore(null)).rejects.toThrow(/pg_control\.zst is (missing or )?damaged/)
    const { directory, blobs } = home.newest()
    expect(readdirSync(directory)).toEqual([])
    expect(await keysOf(blobs)).toEqual([])
  })
})

describe("the folder of a history", () => {
  it("keeps the newest copy before its window, and the log that continues it", async () => {
    const archive = aFolder()
    mkdirSync(segmentsIn(archive))
    const segments = ["00000001", "00000005", "00000009"].map((number) => `0000000100000000${number}`)
    for (const [day, firstSegment] of segments.entries()) {
      const folder = join(archive, "base", `2026-11-0${day + 1}T00-00-00-000Z`)
      mkdirSync(folder, { recursive: true })
      const completeAt = Date.parse(`2026-11-0${day + 1}`)
      writeFileSync(
        join(folder, "base.json"),
        JSON.stringify({ format: 1, completeAt, timeline: 1, firstSegment, folders: [], files: [] }),
      )
      writeFileSync(join(segmentsIn(archive), `${firstSegment}.gz`), "")
    }
    writeFileSync(join(segmentsIn(archive), "00000002.history.gz"), "")
    const left = await pruneBases(archive, Date.parse("2026-11-02T12:00"))
    expect(left.map(({ completeAt }) => new Date(completeAt).getUTCDate())).toEqual([2, 3])
    expect(readdirSync(segmentsIn(archive)).toSorted()).toEqual([
      "000000010000000000000005.gz",
      "000000010000000000000009.gz",
      "00000002.history.gz",
    ])
    expect(
      (await pruneBases(archive, Date.parse("2027-01-01"))).map(({ firstSegment }) => firstSegment),
    ).toEqual(segments.slice(2))
  })

  it("removes bytes only when no moment of its window has them", async () => {
    const name = await home.upload(aFile("pruned.txt", "for a week"))
    const key = await home.keyOf(name)
    await home.copy()
    await home.purge(name)
    await home.kept.prune(home, Date.now() - 1000)
    expect(await home.hasCopy(key)).toBe(true)
    await pause(5)
    await home.kept.prune(home, Date.now())
    expect(await home.hasCopy(key)).toBe(false)
  })

  it("is kept by the process, to the last file before it stops", async () => {
    const before = await listBases(home.archive)
    const first = await home.keyOf(await home.upload(aFile("first.txt")))
    const history = home.start()
    await expect.poll(() => history.since()).toBeGreaterThan(0)
    expect(history.behind()).toBe(0)
    expect(await home.hasCopy(first)).toBe(true)
    const last = await home.keyOf(await home.upload(aFile("last.txt")))
    await history.stop()
    expect(await home.hasCopy(last)).toBe(true)
    // The newest is of today.
    expect(await listBases(home.archive)).toHaveLength(before.length)
  })
})

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String).toSorted()
}
