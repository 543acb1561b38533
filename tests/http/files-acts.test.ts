import { execFile } from "node:child_process"
import { connect } from "node:net"
import { promisify } from "node:util"
import sharp from "sharp"
import { beforeAll, describe, expect, test } from "vitest"
import type { Trashed } from "#server/files/acts-contract.ts"
import type { FileSummary, TrashedFile } from "#server/files/contract.ts"
import { inAll } from "../support/all.ts"
import { callers, post, type Api } from "../support/api.ts"
import { image, pixelFlood } from "../support/images.ts"
import { ada as adaLovelace, grace as graceHopper } from "../support/people.ts"
import { readZip } from "../support/zip.ts"
import { withTideline } from "../support/with-tideline.ts"

const NOBODYS = "01999999-9999-7999-8999-999999999999"

/** Whether open files of other processes can be listed. */
const hasProc = process.platform === "linux"

let api: Api

const { app, sql, ada, grace } = withTideline({
  settings: { FILES_MAX_SIZE: "60MB" },
  people: { ada: adaLovelace, grace: graceHopper },
})
beforeAll(() => void (api = callers(app)))

describe("the trash", () => {
  test("accepts a removed file, lists it, and restores it", async () => {
    const file = await store("plan.txt", "high water")
    expect((await ada(`/api/files/${file._id}`, { method: "DELETE" })).status).toBe(204)
    for (const path of ["", "/thumbnail", "/shares"])
      expect((await ada(`/api/files/${file._id}${path}`)).status).toBe(404)
    const { files } = await trash("")
    expect(files).toEqual([{ ...file, trashedAt: expect.any(Number) as number }])

    const replacement = await store("plan.txt", "low water")
    const restored = await ada(`/api/files/${file._id}/restore`, { method: "POST" })
    expect(await restored.json()).toEqual({ file: { ...file, fileName: "plan (1).txt" } })
    expect(await (await ada(`/api/files/${file._id}`)).text()).toBe("high water")
    expect(await trash("")).toEqual({ files: [], nextCursor: null })
    await purge(file, replacement)
  })

  test("is paged, last removed first", async () => {
    const ids: string[] = []
    for (const name of ["a.txt", "b.txt", "c.txt"]) {
      const { _id } = await store(name, name)
      ids.unshift(_id)
      await ada(`/api/files/${_id}`, { method: "DELETE" })
    }
    // With the same time of deletion, as after deleting a selection.
    await sql`update files set trashed_at = 5 where trashed`
    const first = await trash("?limit=2")
    const second = await trash(`?limit=2&cursor=${first.nextCursor}`)
    expect([...first.files, ...second.files].map(({ _id }) => _id)).toEqual(ids)
    expect(second.nextCursor).toBeNull()
    expect((await ada("/api/files/trash?cursor=nonsense")).status).toBe(400)
  })

  test("is emptied in one request, and its space is freed", async () => {
    const kept = await store("kept.txt", "kept")
    expect((await trash("")).files).toHaveLength(3)
    const emptied = await ada("/api/files/trash", { method: "DELETE" })
    expect(await emptied.json()).toEqual({ purged: 3 })
    expect((await trash("")).files).toEqual([])
    const [usage] = await sql`
      select used::int, (select sum(size)::int from files f where f.user_id = u.user_id) as sizes from file_usage u`
    expect(usage).toEqual({ used: 4, sizes: 4 })
    await purge(kept)
  })
})

describe("a thumbnail", () => {
  test.each(["jpeg", "png", "webp", "gif", "avif"] as const)("is created from %s", async (format) => {
    const file = await store(`large.${format}`, await image(format, [1200, 800]))
    const response = await ada(`/api/files/${file._id}/thumbnail`)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/webp",
      "cache-control": "private, max-age=3600",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringMatching(/sandbox$/),
      "cross-origin-resource-policy": "same-origin",
      vary: expect.stringContaining("Cookie"),
    })
    const picture = await sharp(await response.arrayBuffer()).metadata()
    expect([picture.format, picture.width, picture.height]).toEqual(["webp", 256, 171])
    await purge(file)
  })

  test("is created once, however often and wherever it is requested", async () => {
    const file = await store("photo.jpeg", await image("jpeg", [800, 800]))
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ada(`/api/files/${file._id}/thumbnail`)),
    )
    const etags = new Set(answers.map(({ headers }) => headers.get("etag")))
    expect(etags.size).toBe(1)
    const [etag] = etags
    const [kept] = await sql`select length(bytes) as length from file_thumbnails where file_id = ${file._id}`
    expect(answers[0]?.headers.get("content-length")).toBe(String(kept?.["length"]))
    const headers = { "if-none-match": etag ?? "" }
    expect((await ada(`/api/files/${file._id}/thumbnail`, { headers })).status).toBe(304)
    const head = await ada(`/api/files/${file._id}/thumbnail`, { method: "HEAD" })
    expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, etag, ""])
    await purge(file)
    expect(await sql`select 1 from file_thumbnails`).toHaveLength(0)
  })

  test("never enlarges a small image, and respects the camera's orientation", async () => {
    const small = await store("dot.png", await image("png", [16, 8]))
    expect(await sizeOfPicture(small)).toEqual([16, 8])
    const held = await sharp(await image("jpeg", [400, 200]))
      .withMetadata({ orientation: 6 })
      .toBuffer()
    const turned = await store("held.jpeg", held)
    expect(await sizeOfPicture(turned)).toEqual([128, 256])
    await purge(small, turned)
  })

  test("is refused with a message for other files, and never with 500", async () => {
    const jpeg = await image("jpeg", [600, 600])
    const flood = pixelFlood(30_000)
    const hostile: [string, Buffer | string][] = [
      ["text.txt", "text"],
      ["drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"],
      ["flood.png", flood],
      ["truncated.jpeg", jpeg.subarray(0, jpeg.length / 2)],
      ["header.png", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1")],
      ["empty.png", ""],
      ["polyglot.gif", "GIF89a/*\0\0\0\0*/=1;alert(1)//"],
      ["drawing.png", Buffer.from("\x89PNG\r\n\x1a\n<svg xmlns='http://www.w3.org/2000/svg'/>", "latin1")],
    ]
    for (const [name, content] of hostile) {
      const file = await store(name, content)
      for (let time = 0; time < 2; time++) {
        const response = await ada(`/api/files/${file._id}/thumbnail`)
        expect([name, response.status]).toEqual([name, 415])
        expect(await response.json()).toEqual({
          error: `There is no thumbnail of ${name}.`,
          reason: "thumbnail-impossible",
          values: { fileName: name },
        })
      }
      await purge(file)
    }
    const fine = await store("fine.jpeg", jpeg)
    expect(await sizeOfPicture(fine)).toEqual([256, 256])
    await purge(fine)
  })

  test.runIf(hasProc)("is created by a process without access to any secrets", async () => {
    const file = await store("photo.png", await image("png", [64, 64]))
    await sizeOfPicture(file)
    const { stdout } = await promisify(execFile)("ps", ["e", "-o", "args=", "--ppid", String(api.app.pid)])
    expect(stdout).toContain("thumbnail-process")
    expect(stdout).not.toContain("a secret for tests")
    await purge(file)
  })
})

describe("all files that match", () => {
  test("are counted, moved to the trash, and restored together", async () => {
    const kept = await store("wind.txt", "w")
    const gone = [await store("tide 1.txt", "1"), await store("tide 2.txt", "22")]
    const until = gone[1]?._creationTime
    const counted = await ada("/api/files/count?q=TIDE&type=text")
    expect(await counted.json()).toEqual({ count: 2, size: 3, until })
    const moved = await ada("/api/files/trash", post({ all: { q: "tide", until } }))
    const { count, trashedAt } = (await moved.json()) as Trashed
    expect(count).toBe(2)
    expect((await trash("")).files).toHaveLength(2)
    const restored = await ada("/api/files/restore", post({ all: { trashedAt } }))
    expect(await restored.json()).toEqual({ count: 2 })
    const body = new URLSearchParams([
      ["all", "1"],
      ["q", "tide"],
      ["until", String(until)],
      ["except", gone[0]?._id ?? ""],
    ])
    const zip = await ada("/api/files/archive", { method: "POST", body })
    expect(readZip(await bytesOf(zip))).toEqual([["tide 2.txt", "22"]])
    const named = await ada("/api/files/trash", post({ fileIds: gone.map(({ _id }) => _id) }))
    expect(await named.json()).toMatchObject({ count: 2 })
    expect(await (await ada("/api/files/purge", post({ all: {} }))).json()).toEqual({ count: 2 })
    await purge(kept)
  })

  test("are refused beside ids, and with fields and values that do not exist", async () => {
    const file = await store("a.txt", "a")
    const { _id } = file
    const wrong = [
      { fileIds: [_id], all: {} },
      { all: true },
      { all: { query: "a" } },
      { all: { type: "pdf" } },
      { all: { q: "x".repeat(201) } },
      { all: { until: "now" } },
      { all: { until: 1e30 } },
      { all: { except: ["x"] } },
      { fileIds: [] },
      {},
    ]
    for (const path of ["trash", "restore", "purge", "move", "copy"])
      for (const body of wrong) {
        const answer = await ada(`/api/files/${path}`, post(body))
        expect([path, body, answer.status]).toEqual([path, body, 400])
        const ofLists = path === "restore" || path === "purge" ? [] : ["q", "type"]
        const known = new Set(["until", "except", ...ofLists])
        const isUnknown = Object.keys(Object(body.all)).some((field) => !known.has(field))
        const reason = isUnknown ? /^field-(misspelt|unknown)$/ : /^files-unselected$/
        expect(await answer.json()).toMatchObject({ reason: expect.stringMatching(reason) })
      }
    for (const body of [{ ids: [_id], all: {} }, { all: { query: "a" } }, { all: true, q: "a" }])
      expect((await ada("/api/files/archive", post(body))).status).toBe(400)
    for (const query of ["name=a", "type=pdf", "until=now", "until=1e30", "except=x"])
      expect((await ada(`/api/files/count?${query}`)).status).toBe(400)
    expect(await (await ada("/api/files/count")).json()).toMatchObject({ count: 1 })
    expect((await api.visitor("/api/files/trash", post({ all: {} }))).status).toBe(401)
    await purge(file)
  })
})

describe("an archive", () => {
  test("contains the requested files, and states its length", async () => {
    const first = await store("žluťoučký kůň 🐎.txt", "kůň")
    const second = await store("README", "read me")
    const other = await store("README.txt", "not me")
    const response = await ada("/api/files/archive", post({ ids: [second._id, first._id, second._id] }))
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/zip",
      "content-disposition": expect.stringMatching(
        /^attachment; filename="Tideline files \d{4}-\d\d-\d\d\.zip"$/,
      ),
      "cache-control": "private, no-store, no-transform",
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(response.headers.get("content-length")).toBe(String(bytes.length))
    expect(readZip(bytes)).toEqual([
      ["README", "read me"],
      ["žluťoučký kůň 🐎.txt", "kůň"],
    ])
    await purge(first, second, other)
  })

  test("can be requested by a form, too", async () => {
    const files = [await store("a.txt", "a"), await store("b.txt", "b")]
    const body = new URLSearchParams(files.map(({ _id }) => ["ids", _id]))
    const response = await ada("/api/files/archive", { method: "POST", body })
    expect(readZip(await bytesOf(response))).toEqual([
      ["a.txt", "a"],
      ["b.txt", "b"],
    ])
    const all = await ada("/api/files/archive", { method: "POST", body: new URLSearchParams({ all: "1" }) })
    expect(readZip(await bytesOf(all))).toHaveLength(2)
    await purge(...files)
  })

  test("numbers names that differ only in capitalisation", async () => {
    const files = [await store("note.txt", "1"), await store("NOTE.txt", "2"), await store("Note.TXT", "3")]
    const response = await ada("/api/files/archive", post({ ids: files.map(({ _id }) => _id) }))
    expect(readZip(await bytesOf(response))).toEqual([
      ["note.txt", "1"],
      ["NOTE (1).txt", "2"],
      ["Note (2).TXT", "3"],
    ])
    await purge(...files)
  })

  inAll("of a thousand small files, or of all files, can be opened", async () => {
    const one = await store("one.txt", "the same bytes")
    await sql`
      insert into files (storage_id, user_id, file_name, mime_type, size)
      select storage_id, user_id, 'copy ' || n || '.txt', mime_type, size from files, generate_series(1, 1200) n
      where _id = ${one._id}`
    const rows = await sql`select _id from files where file_name like 'copy%' limit 1000`
    const named = await ada("/api/files/archive", post({ ids: rows.map((row) => String(row["_id"])) }))
    const entries = readZip(await bytesOf(named))
    expect(entries).toHaveLength(1000)
    expect(entries.every(([, content]) => content === "the same bytes")).toBe(true)
    const all = await ada("/api/files/archive", post({ all: true }))
    expect(readZip(await bytesOf(all))).toHaveLength(1201)
    await sql`delete from files where file_name like 'copy%'`
    await purge(one)
  })

  test("of nothing is empty", async () => {
    const response = await ada("/api/files/archive", post({ all: true }))
    expect(readZip(await bytesOf(response))).toEqual([])
  })

  test("is refused if it names nothing, too much, or files that do not exist", async () => {
    const file = await store("a.txt", "a")
    for (const body of [
      {},
      { ids: [] },
      { ids: ["x"] },
      { all: false },
      { ids: Array(1001).fill(file._id) },
      [],
      null,
    ])
      expect((await ada("/api/files/archive", post(body))).status).toBe(400)
    expect((await ada("/api/files/archive", post("{"))).status).toBe(400)
    expect((await ada("/api/files/archive", post("x".repeat(300_000)))).status).toBe(413)
    expect((await ada("/api/files/archive", post({ ids: [file._id, NOBODYS] }))).status).toBe(404)
    const gone = await store("gone.txt", "gone")
    await ada(`/api/files/${gone._id}`, { method: "DELETE" })
    expect((await ada("/api/files/archive", post({ ids: [gone._id] }))).status).toBe(404)
    await purge(file, gone)
  })

  test.runIf(hasProc)("stops when the client disconnects, and closes what it was reading", async () => {
    const file = await store("long.bin", Buffer.alloc(50_000_000, 7))
    const body = JSON.stringify({ ids: [file._id] })
    const socket = connect(api.app.port, "127.0.0.1")
    socket.write(
      `POST /api/files/archive HTTP/1.1\r\nHost: localhost\r\nOrigin: ${api.app.origin}\r\nCookie: ${ada.cookie()}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await new Promise((resolve) => socket.once("data", resolve))
    socket.pause()
    await expect.poll(() => openBlobs()).toBe(1)
    socket.destroy()
    await expect.poll(() => openBlobs()).toBe(0)
    const answer = await api.app
      .logged("request")
      .then(() => api.app.log.findLast((line) => line.includes("archive")))
    expect(answer).toContain('"complete":false')
    expect(api.app.log.filter((line) => line.includes('"level":50'))).toEqual([])
    await purge(file)
  })

  test("breaks off if the bytes of a file are gone, so that it is not mistaken for complete", async () => {
    const [whole, file] = [await store("whole.bin", Buffer.alloc(100_000)), await store("lost.txt", "lost")]
    await sql`update blobs set key = '00/00/00000000-0000-4000-8000-000000000000' where size = 4`
    const response = ada("/api/files/archive", post({ ids: [whole._id, file._id] })).then(bytesOf)
    await expect(response).rejects.toThrow()
    expect((await ada("/api/files/archive", post({ ids: [file._id] }))).status).toBe(503)
    await purge(whole, file)
  })
})

describe("other people's files", () => {
  test("do not exist for any of these operations, and visitors receive 401", async () => {
    const file = await store("private.png", await image("png", [64, 64]))
    const trashed = await store("trashed.txt", "private")
    await ada(`/api/files/${trashed._id}`, { method: "DELETE" })
    for (const id of [file._id, trashed._id, NOBODYS, "no-id"]) {
      for (const [path, init] of actsOn(id)) {
        const answer = await grace(path, init)
        expect([path, init.method, answer.status]).toEqual([path, init.method, 404])
        expect((await api.visitor(path, init)).status).toBe(401)
      }
      const expected = id === "no-id" ? 400 : 404
      expect((await grace("/api/files/archive", post({ ids: [id] }))).status).toBe(expected)
    }
    expect((await api.visitor("/api/files/archive", post({ all: true }))).status).toBe(401)
    expect(readZip(await bytesOf(await grace("/api/files/archive", post({ all: true }))))).toEqual([])
    expect(await (await grace("/api/files/trash", { method: "DELETE" })).json()).toEqual({ purged: 0 })
    expect(await (await grace("/api/files/trash")).json()).toEqual({ files: [], nextCursor: null })
    expect((await api.visitor("/api/files/trash")).status).toBe(401)
    expect((await trash("")).files).toHaveLength(1)
    expect(await sizeOfPicture(file)).toEqual([64, 64])
    await purge(file, trashed)
  })

  test.each([
    ["/api/files/trash", "PATCH", "GET, HEAD, POST, DELETE"],
    ["/api/files/archive", "GET", "POST"],
    [`/api/files/${NOBODYS}/thumbnail`, "DELETE", "GET, HEAD"],
    [`/api/files/${NOBODYS}/restore`, "GET", "POST"],
    [`/api/files/${NOBODYS}/shares`, "DELETE", "GET, HEAD, POST"],
    [`/api/files/shares/${NOBODYS}`, "GET", "DELETE"],
  ])("%s does not allow %s", async (path, method, allowed) => {
    const response = await ada(path, { method })
    expect(response.status).toBe(405)
    expect(response.headers.get("allow")).toBe(allowed)
  })
})

function actsOn(id: string): [string, RequestInit][] {
  return [
    [`/api/files/${id}/thumbnail`, {}],
    [`/api/files/${id}/thumbnail`, { method: "HEAD" }],
    [`/api/files/${id}/restore`, { method: "POST" }],
    [`/api/files/${id}?permanently=1`, { method: "DELETE" }],
    [`/api/files/${id}/shares`, {}],
    [`/api/files/${id}/shares`, post({})],
  ]
}

async function store(name: string, content: Buffer | string): Promise<FileSummary> {
  const body = new Uint8Array(Buffer.from(content))
  const answer = await ada(`/api/files?name=${encodeURIComponent(name)}`, { method: "POST", body })
  const { files } = (await answer.json()) as { files?: FileSummary[] }
  if (!files?.[0]) throw new Error(`Nothing was stored: ${answer.status}`)
  return files[0]
}

async function purge(...files: FileSummary[]) {
  for (const { _id } of files)
    expect((await ada(`/api/files/${_id}?permanently=1`, { method: "DELETE" })).status).toBe(204)
}

async function trash(query: string) {
  return (await (await ada(`/api/files/trash${query}`)).json()) as {
    files: TrashedFile[]
    nextCursor: string | null
  }
}

async function sizeOfPicture(file: FileSummary) {
  const response = await ada(`/api/files/${file._id}/thumbnail`)
  expect(response.status).toBe(200)
  const { width, height } = await sharp(await response.arrayBuffer()).metadata()
  return [width, height]
}

async function bytesOf(response: Response) {
  return Buffer.from(await response.arrayBuffer())
}

/** Blobs that the server has open now. */
async function openBlobs() {
  const { stdout } = await promisify(execFile)("sh", [
    "-c",
    `ls -l /proc/${api.app.pid}/fd | grep -c /blobs/ || true`,
  ])
  return Number(stdout)
}
