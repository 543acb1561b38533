import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { Readable } from "node:stream"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { blobs } from "#db/schema/files.ts"
import { newBlobKey } from "#server/adapters/blobs/blob-key.ts"
import { openBucket } from "#server/adapters/blobs/s3/bucket.ts"
import { forgetDamage, noteDamage } from "#server/files/damage.ts"
import { inAll } from "../support/all.ts"
import { runBuiltCommand } from "../support/commands.ts"
import { startCluster, type Cluster } from "../realtime/support/cluster.ts"
import { databaseUrl } from "../support/database-url.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { makeReadOnly } from "../support/read-only.ts"
import { startS3 } from "../support/s3.ts"

const s3 = startS3()
let cluster: Cluster
let folder: string
beforeAll(async () => {
  cluster = await startCluster({ max_slot_wal_keep_size: "-1", max_replication_slots: "3" })
  await cluster.admin`create database doctor`
  folder = mkdtempSync(join(tmpdir(), "doctor-"))
})
afterAll(async () => {
  await cluster.stop()
  rmSync(folder, { recursive: true })
})

it("finds nothing wrong with a sound installation, and leaves nothing behind", async () => {
  const { code, lines } = await runDoctor({})
  expect(code).toBe(0)
  expect(lines.filter(({ state }) => state === "problem")).toEqual([])
  expect(textAbout(lines, "Database")).toMatch(/^PostgreSQL 1[78]\.\d+ with .* 0 processes run on it\.$/)
  expect(textAbout(lines, "Replication")).toContain("slots")
  expect(textAbout(lines, "Clock")).toBe("This machine and PostgreSQL agree.")
  expect(textAbout(lines, "Files")).toContain("written")
  expect(
    readdirSync(join(folder, "data/blobs"), { recursive: true }).filter((name) =>
      /[\da-f-]{36}/.test(String(name)),
    ),
  ).toEqual([])
  expect(await cluster.admin`select 1 from pg_replication_slots`).toEqual([])
})

it("names the setting of a database that does not answer, and goes on with the rest", async () => {
  const { code, lines } = await runDoctor({ DATABASE_URL: "postgres://nobody@127.0.0.1:9/none" })
  expect(code).toBe(1)
  expect(lines).toContainEqual({
    state: "problem",
    about: "Database",
    text: expect.stringContaining("DATABASE_URL cannot be used.") as string,
  })
  expect(lines).toContainEqual(expect.objectContaining({ state: "ok", about: "Files" }))
})

it("says that the store refuses to be written to", async () => {
  await runDoctor({})
  const makeWritable = makeReadOnly(join(folder, "data/blobs/tmp"))
  onTestFinished(makeWritable)
  const { code, lines } = await runDoctor({})
  expect(code).toBe(1)
  expect(textAbout(lines, "Files")).toMatch(/^Files can't be stored \(E[A-Z]+.*mounted read-only/)
})

it("names bytes of files that were found missing or damaged", async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.close())
  const key = newBlobKey()
  const [blob] = await database.db
    .insert(blobs)
    .values({ key, size: 8, sha256: "0".repeat(64) })
    .returning()
  await noteDamage(database, key, "shorter")
  const { lines } = await runDoctor({ DATABASE_URL: database.url })
  expect(lines).toContainEqual({
    state: "problem",
    about: "Bytes",
    text: expect.stringMatching(`1, among them ${key}. Run npm run files -- check`) as string,
  })
  await forgetDamage(database, blob?._id ?? "")
  const { lines: after } = await runDoctor({ DATABASE_URL: database.url })
  expect(textAbout(after, "Bytes")).toBe("No missing or damaged ones are known.")
})

it("names every setting that is wrong before it looks at anything", async () => {
  const { code, output } = await runDoctor({ PORT: "many", MAIL_INBOX_PORT: "none" })
  expect(code).toBe(1)
  expect(output).toContain("- PORT must be")
  expect(output).toContain("- MAIL_INBOX_PORT must be")
})

inAll("counts the slots that are left, and gives the statement that adds some", async () => {
  const [limit] = await cluster.admin<
    [{ most: number }]
  >`select current_setting('max_replication_slots')::int as most`
  const names = Array.from({ length: limit.most - 1 }, (_, at) => `taken_${at}`)
  for (const name of names) await cluster.admin`select pg_create_physical_replication_slot(${name})`
  onTestFinished(async () => {
    for (const name of names) await cluster.admin`select pg_drop_replication_slot(${name})`
  })
  const { code, lines } = await runDoctor({})
  expect(code).toBe(1)
  expect(lines).toContainEqual({
    state: "problem",
    about: "Replication",
    text: expect.stringContaining(`ALTER SYSTEM SET max_replication_slots = ${limit.most * 2};`) as string,
  })
})

inAll("says how old the newest checked backup is, and which one is missing", async () => {
  const { code, lines } = await runDoctor({ BACKUP_SCHEDULE: "0 3 * * *", BACKUP_DIR: join(folder, "none") })
  expect(code).toBe(0)
  expect(lines).toContainEqual({
    state: "warning",
    about: "Backups",
    text: expect.stringMatching(/^There is none yet, but one was due at .*T03:00:00\.000Z\./) as string,
  })
})

it("says that no backup is scheduled, unless another process takes them, and tries the folder", async () => {
  const none = await runDoctor({})
  expect(none.lines).toContainEqual({
    state: "warning",
    about: "Backups",
    text: expect.stringMatching(/^No backup is scheduled\. Set BACKUP_SCHEDULE;/) as string,
  })
  const elsewhere = await runDoctor({ BACKUP_SCHEDULE: "elsewhere" })
  expect(textAbout(elsewhere.lines, "Backups")).toMatch(/^Another process or tool takes them/)
  writeFileSync(join(folder, "not a folder"), "")
  const closed = await runDoctor({ BACKUP_SCHEDULE: "0 3 * * *", BACKUP_DIR: join(folder, "not a folder") })
  expect(closed.lines).toContainEqual({
    state: "warning",
    about: "Backups",
    text: expect.stringMatching(
      /^No backup can be written to .*not a folder: E\w+.*user that Tideline runs as/,
    ) as string,
  })
})

it("names all that is wrong with the database at the same time", async () => {
  const wrong = await startCluster({ wal_level: "replica" })
  onTestFinished(() => wrong.stop())
  await wrong.admin`create role "no stream" login password 'secret'`
  await wrong.admin`create database doctor owner "no stream"`
  const address = new URL(databaseUrl(wrong.url, "doctor"))
  Object.assign(address, { username: "no stream", password: "secret" })
  const { code, lines } = await runDoctor({ DATABASE_URL: address.href })
  expect(code).toBe(1)
  expect(lines.filter(({ about, state }) => about === "Database" && state === "problem")).toEqual([
    expect.objectContaining({ text: expect.stringContaining("wal_level=replica") as string }),
    expect.objectContaining({
      text: expect.stringContaining('ALTER ROLE "no stream" REPLICATION;') as string,
    }),
  ])
})

inAll("names a newer version if it knows where to look, and says how to have it look if not", async () => {
  expect(textAbout((await runDoctor({})).lines, "Version")).toContain("Set RELEASES_URL")
  const latest = { tag_name: "v999.0.0", html_url: "https://example.org/notes" }
  const feed = createServer((_request, response) => response.end(JSON.stringify(latest)))
  await once(feed.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void feed.close())
  const { port } = feed.address() as AddressInfo
  const { code, lines } = await runDoctor({ RELEASES_URL: `http://127.0.0.1:${port}/latest` })
  expect(code).toBe(0)
  expect(lines).toContainEqual({
    state: "warning",
    about: "Version",
    text: expect.stringContaining("Version 999.0.0 is available") as string,
  })
})

inAll("says why the bucket of backups cannot be used", async () => {
  const { code, lines } = await runDoctor({
    BACKUP_SCHEDULE: "0 3 * * *",
    BACKUP_DIR: join(folder, "none"),
    BACKUP_URL: "s3://backups",
    BACKUP_S3_ENDPOINT: "http://127.0.0.1:9",
    BACKUP_S3_ACCESS_KEY_ID: "an id",
    BACKUP_S3_SECRET_ACCESS_KEY: "key-that-stays-secret",
  })
  expect(code).toBe(0)
  expect(textAbout(lines, "Copies")).toMatch(
    /^The bucket backups at http:\/\/127\.0\.0\.1:9 cannot be used .*Check BACKUP_URL and the BACKUP_S3_ settings\.$/,
  )
})

inAll("says whether the newest checked backup is in the bucket, and since when it is missing", async () => {
  await s3.emptyBucket()
  const { bucket, prefix, endpoint, credentials } = s3.settings()
  const directory = mkdtempSync(join(folder, "backups-"))
  const settings = {
    BACKUP_SCHEDULE: "0 3 * * *",
    BACKUP_DIR: directory,
    BACKUP_URL: `s3://${bucket}/${prefix}`,
    BACKUP_S3_ENDPOINT: endpoint ?? "",
    BACKUP_S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? "",
    BACKUP_S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? "",
  }
  const copies = async () => (await runDoctor(settings)).lines.find(({ about }) => about === "Copies")
  expect(await copies()).toMatchObject({ state: "ok", text: `${settings.BACKUP_URL} has none yet.` })

  const [first, second] = ["2026-11-23T03-00-00-412Z", "2026-11-24T03-00-00-398Z"]
  keepChecked(directory, first)
  expect(await copies()).toMatchObject({
    state: "warning",
    text: expect.stringContaining("has none yet, and the newest is of 2026-11-23T03:00:00.412Z.") as string,
  })
  const there = await openBucket(s3.settings())
  await there.upload(`${first}/manifest.json`, Readable.from([Buffer.from("{}")]))
  expect(await copies()).toMatchObject({
    state: "ok",
    text: `${settings.BACKUP_URL} has the one of 2026-11-23T03:00:00.412Z.`,
  })
  keepChecked(directory, second)
  expect(await copies()).toMatchObject({
    state: "warning",
    text: expect.stringContaining("and the newest is of 2026-11-24T03:00:00.398Z.") as string,
  })
})

inAll("says that nothing is copied if this process takes no backups", async () => {
  const { lines } = await runDoctor({ BACKUP_URL: "s3://backups" })
  expect(lines).toContainEqual({
    state: "warning",
    about: "Copies",
    text: expect.stringContaining("Set BACKUP_SCHEDULE.") as string,
  })
})

inAll("warns of a log that is kept without limit, and still succeeds", async () => {
  const { code, lines } = await runDoctor({})
  expect(code).toBe(0)
  expect(lines).toContainEqual({
    state: "warning",
    about: "Log",
    text: expect.stringContaining("max_slot_wal_keep_size = '4GB'") as string,
  })
})

it("says why files, emails and the model cannot be reached, and never shows a secret", async () => {
  const gateway = createServer((_request, response) => response.writeHead(401).end())
  await once(gateway.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void gateway.close())
  const { port } = gateway.address() as AddressInfo
  writeFileSync(join(folder, "a file"), "")
  const { code, lines, output } = await runDoctor({
    BLOBS_URL: `file://${join(folder, "a file/blobs")}`,
    SMTP_URL: "smtp://tideline:open-sesame@127.0.0.1:9",
    AI_GATEWAY_BASE_URL: `http://127.0.0.1:${port}`,
    AI_GATEWAY_API_KEY: "key-that-stays-secret",
  })
  expect(code).toBe(1)
  expect(textAbout(lines, "Files")).toContain("cannot be stored")
  expect(textAbout(lines, "Mail")).toContain("SMTP_URL does not work")
  expect(textAbout(lines, "Model")).toContain("refuses AI_GATEWAY_API_KEY with 401")
  expect(output).not.toMatch(/open-sesame|key-that-stays-secret/)
})

/** A backup that was checked, as far as its folder tells. */
function keepChecked(directory: string, name: string) {
  mkdirSync(join(directory, name))
  writeFileSync(
    join(directory, name, "checked.json"),
    JSON.stringify({ at: "2026-11-24T03:01:00.000Z", proof: "read" }),
  )
}

type Line = { state: string; about: string; text: string }

function textAbout(lines: Line[], about: string) {
  return lines.find((line) => line.about === about)?.text
}

async function runDoctor(
  changes: Record<string, string>,
): Promise<{ code: number; output: string; lines: Line[] }> {
  const env = {
    DATABASE_URL: databaseUrl(cluster.url, "doctor"),
    DATA_DIR: join(folder, "data"),
    ...changes,
  }
  const { code, output } = await runBuiltCommand("doctor", [], { folder, env })
  return { code, output, lines: readLines(output) }
}

function readLines(output: string): Line[] {
  return [...output.matchAll(/^(ok|warning|problem) +(\w+) +(.*)$/gm)].map(
    ([, state = "", about = "", text = ""]) => ({
      state,
      about,
      text,
    }),
  )
}
