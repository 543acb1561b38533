import { randomBytes } from "node:crypto"
import { readFile, rm, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import type { FileSummary, ShareSummary } from "#server/files/contract.ts"
import type { NewLink } from "#server/links/contract.ts"
import { callers, post, type Api } from "../support/api.ts"
import { image } from "../support/images.ts"
import { findFreePort } from "../support/ports.ts"
import { ada as adaLovelace } from "../support/people.ts"
import { addSecondFactor } from "../support/second-factor.ts"
import { readZip } from "../support/zip.ts"
import { withTideline } from "../support/with-tideline.ts"

const DAMAGED = "file-bytes-damaged"

let api: Api
let metrics: () => Promise<string>

const port = await findFreePort()
const { app, sql, ada, operator } = withTideline({
  settings: { ADMIN_EMAILS: "operator@example.org", OPS_PORT: String(port) },
  people: { ada: adaLovelace, operator: { name: "Operator", email: "operator@example.org" } },
})
beforeAll(async () => {
  metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  api = callers(app)
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${operator.email}`
  await addSecondFactor(operator, operator.password)
})

const DAMAGES = {
  shorter: (path: string) => truncate(path, 1000),
  longer: async (path: string) => writeFile(path, Buffer.concat([await readFile(path), randomBytes(10)])),
  missing: (path: string) => rm(path),
}

describe.each(Object.entries(DAMAGES))("bytes that are %s than their row says", (problem, damage) => {
  const reason = problem === "missing" ? "file-bytes-missing" : DAMAGED

  it("are refused as a whole, in part, and by a link, which counts no download", async () => {
    const { file, path } = await store(`${problem}.bin`, randomBytes(50_000))
    const { url, share } = await shareIt(file)
    await damage(path)
    for (const init of [{}, { headers: { range: "bytes=10-20" } }, { headers: { range: "bytes=2000-" } }])
      expect(await refusalOf(await ada(`/api/files/${file._id}`, init))).toEqual([503, reason])
    expect((await api.visitor(`${url}/download`)).status).toBe(503)
    const [left] = await sql`select downloads from file_shares where _id = ${share._id}`
    expect(left).toEqual({ downloads: 0 })
    await remove(file)
  })

  it("break off an archive of named files, and are named in those of everything", async () => {
    const whole = await store(`whole beside ${problem}.txt`, "whole")
    const { file, path } = await store(`${problem} in an archive.bin`, randomBytes(50_000))
    await damage(path)
    const named = await ada("/api/files/archive", post({ ids: [whole.file._id, file._id] }))
    await expect(named.arrayBuffer()).rejects.toThrow()
    const text = `${file.fileName} (damaged).txt`
    const everything = [
      [whole.file.fileName, "whole"],
      [text, expect.stringMatching(new RegExp(`contents of ${file.fileName}.* from a backup\\.\n$`, "s"))],
      ["damaged files.txt", expect.stringMatching(new RegExp(`\n\n${file.fileName}\n$`))],
    ]
    const all = await ada("/api/files/archive", post({ all: true }))
    expect(readZip(Buffer.from(await all.arrayBuffer()))).toEqual(everything)
    const own = await ada("/dashboard/account/export")
    const inOwn = readZip(Buffer.from(await own.arrayBuffer()))
    expect(inOwn.filter(([name]) => name.startsWith("files/"))).toEqual(
      everything.map(([name, content]) => [`files/${String(name)}`, content]),
    )
    await remove(whole.file)
    await remove(file)
  })
})

describe("bytes that have changed", () => {
  it("break off the response before its end", async () => {
    const { file, path } = await store("changed.bin", randomBytes(900_000))
    const bytes = await readFile(path)
    bytes[5] = (bytes[5] ?? 0) ^ 1
    await writeFile(path, bytes)
    const response = await ada(`/api/files/${file._id}`)
    expect(response.status).toBe(200)
    await expect(response.arrayBuffer()).rejects.toThrow()
    const requestId = response.headers.get("x-request-id")
    await expect.poll(() => logged({ requestId, msg: "request" })).toMatchObject({ complete: false })
    // A part has no checksum of its own.
    const part = await ada(`/api/files/${file._id}`, { headers: { range: "bytes=100-199" } })
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(100, 200))
  })

  it("are refused if they arrive all together", async () => {
    const { file, path } = await store("small.txt", "What was written.")
    await writeFile(path, "What is now there")
    expect(await refusalOf(await ada(`/api/files/${file._id}`))).toEqual([503, DAMAGED])
  })

  it("have no thumbnail until they are whole again", async () => {
    const { file, path } = await store("picture.png", new Uint8Array(await image("png", [300, 200])))
    const whole = await readFile(path)
    await truncate(path, 100)
    const thumbnail = `/api/files/${file._id}/thumbnail`
    expect(await refusalOf(await ada(thumbnail))).toEqual([503, DAMAGED])
    await writeFile(path, whole)
    expect((await ada(thumbnail)).status).toBe(200)
  })
})

it("the log, a metric and /admin say which bytes are damaged", async () => {
  const { file, path, key } = await store("named.bin", randomBytes(50_000))
  await truncate(path, 1000)
  await ada(`/api/files/${file._id}`)
  await expect.poll(() => logged({ key })).toMatchObject({ level: 50, damage: "shorter" })
  expect(await metrics()).toContain(`tideline_damaged_blobs{key="${key}",damage="shorter"} 1`)
  expect(await (await operator("/admin")).text()).toContain("npm run files -- check")
  await remove(file)
  expect(await metrics()).not.toContain(key)
})

async function store(name: string, body: Uint8Array<ArrayBuffer> | string) {
  const response = await ada(`/api/files?name=${encodeURIComponent(name)}`, { method: "POST", body })
  const { files } = (await response.json()) as { files: FileSummary[] }
  const [file] = files
  if (!file) throw new Error(`${name} was not stored.`)
  const [row] = await sql<{ key: string }[]>`
    select key from blobs join files on storage_id = blobs._id where files._id = ${file._id}`
  const key = row?.key ?? ""
  return { file, key, path: join(api.app.dataDir, "blobs", key) }
}

async function shareIt({ _id }: FileSummary) {
  const response = await ada(`/api/files/${_id}/shares`, post({ maxDownloads: 3 }))
  return (await response.json()) as NewLink<ShareSummary>
}

async function remove({ _id }: FileSummary) {
  await sql`delete from files where _id = ${_id}`
  await sql`delete from blobs where not exists (select 1 from files where storage_id = blobs._id)`
}

async function refusalOf(response: Response) {
  const { reason } = (await response.json()) as { reason: string }
  return [response.status, reason]
}

function logged(fields: Record<string, unknown>): Record<string, unknown> | undefined {
  return api.app.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find((entry) => Object.entries(fields).every(([name, value]) => entry[name] === value))
}
