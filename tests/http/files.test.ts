import { request as openRequest } from "node:http"
import { randomBytes } from "node:crypto"
import { parse as parseDisposition } from "content-disposition"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import type { FileSummary } from "#server/files/contract.ts"
import { callers, type Api } from "../support/api.ts"
import { ada as adaLovelace, grace as graceHopper, type Person } from "../support/people.ts"
import { exchange, statusesOf } from "../support/raw-http.ts"
import { storedPaths } from "../support/stored-paths.ts"
import { withTideline } from "../support/with-tideline.ts"

const NOBODYS = "01999999-9999-7999-8999-999999999999"

let api: Api

const { app, ada, grace } = withTideline({
  settings: { FILES_MAX_SIZE: "1MB", FILES_QUOTA_FREE: "5MB" },
  people: { ada: adaLovelace, grace: graceHopper },
})
beforeAll(() => void (api = callers(app)))

describe("POST /api/files", () => {
  test("stores the body under the name in the query", async () => {
    const bytes = randomBytes(300_000)
    const response = await post(ada, "noise.bin", bytes)
    expect(response.status).toBe(201)
    const file = await firstFile(response)
    expect(file).toMatchObject({ fileName: "noise.bin", mimeType: "application/octet-stream", size: 300_000 })
    const download = await ada(`/api/files/${file._id}`)
    expect(Buffer.from(await download.arrayBuffer())).toEqual(bytes)
    await remove(file)
  })

  test("stores a body of unknown length", async () => {
    const file = await firstFile(
      await ada("/api/files?name=stream.txt", streamed("a stream of ", "unknown length")),
    )
    expect(file).toMatchObject({ mimeType: "text/plain", size: 26 })
    await remove(file)
  })

  test("stores the files of a form, and ignores its other fields", async () => {
    const form = new FormData()
    form.set("note", "not a file")
    form.append("file", new Blob(["one"]), "one.txt")
    form.append("file", new Blob([""]), "")
    form.append("other", new Blob(["zwei"]), "žluťoučký kůň 🐎.txt")
    const response = await ada("/api/files", { method: "POST", body: form })
    expect(response.status).toBe(201)
    const { files } = (await response.json()) as { files: FileSummary[] }
    expect(files.map(({ fileName, size }) => [fileName, size])).toEqual([
      ["one.txt", 3],
      ["žluťoučký kůň 🐎.txt", 4],
    ])
    await Promise.all(files.map(remove))
  })

  test("accepts an API key as well as a cookie", async () => {
    const response = await api.visitor("/api/files?name=script.txt", {
      method: "POST",
      headers: { authorization: `Bearer ${await ada.apiKey()}` },
      body: "from a script",
    })
    expect(response.status).toBe(201)
    await remove(await firstFile(response))
  })

  describe("refuses", () => {
    afterAll(async () => {
      expect(await list(ada)).toEqual([])
      // What a refused request had stored is deleted after its response.
      await vi.waitFor(async () => expect(await storedPaths(api.app)).toEqual([]), 15_000)
    })

    test("a visitor with 401", async () => {
      const response = await api.visitor("/api/files?name=a.txt", { method: "POST", body: "a" })
      expect(response.status).toBe(401)
      expect(await response.json()).toEqual({ error: "Unauthorized" })
    })

    test("a request from another site", async () => {
      const headers = { origin: "https://elsewhere.example" }
      const response = await ada("/api/files?name=a.txt", { method: "POST", body: "a", headers }).catch(
        String,
      )
      expect(response).toMatchObject({ status: 403 })
    })

    test("a body without a name with 400", async () => {
      const response = await ada("/api/files", { method: "POST", body: "a" })
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({
        error: "Say what the file is called: POST /api/files?name=photo.jpg",
        reason: "file-unnamed",
      })
    })

    test.each([
      [
        "without a file",
        "multipart/form-data; boundary=x",
        "--x\r\ncontent-disposition: form-data; name=a\r\n\r\n1\r\n--x--\r\n",
      ],
      ["without a boundary", "multipart/form-data", "--x--"],
      [
        "that ends early",
        "multipart/form-data; boundary=x",
        '--x\r\ncontent-disposition: form-data; name=f; filename="a.txt"\r\n\r\nhalf',
      ],
      ["that is not a form", "multipart/form-data; boundary=x", "no form at all"],
    ])("a form %s with 400", async (_what, type, body) => {
      const response = await ada("/api/files", { method: "POST", headers: { "content-type": type }, body })
      expect(response.status).toBe(400)
    })

    test("a file that says it is too large with 413", async () => {
      const response = await post(ada, "film.mov", Buffer.alloc(1_000_001))
      expect(response.status).toBe(413)
      expect(await response.json()).toEqual({
        error: "film.mov is too large. A file can be 1 MB at most.",
        reason: "file-too-large",
        values: { fileName: "film.mov", largest: { bytes: 1_000_000 } },
      })
    })

    test("a file that turns out to be too large with 413", async () => {
      const pieces = Array.from({ length: 20 }, () => "x".repeat(100_000))
      const response = await ada("/api/files?name=film.mov", streamed(...pieces))
      expect(response.status).toBe(413)
    })

    test("a form whose file is too large with 413", async () => {
      const form = new FormData()
      form.set("file", new Blob(["x".repeat(1_000_001)]), "film.mov")
      const response = await ada("/api/files", { method: "POST", body: form })
      expect(response.status).toBe(413)
    })

    test("what exceeds the quota with 507", async () => {
      const bytes = Buffer.alloc(1_000_000)
      const responses = await Promise.all(Array.from({ length: 8 }, () => post(ada, "part.bin", bytes)))
      expect(responses.map(({ status }) => String(status)).toSorted()).toEqual([
        "201",
        "201",
        "201",
        "201",
        "201",
        "507",
        "507",
        "507",
      ])
      const refusal = responses.find(({ status }) => status === 507)
      expect(await refusal?.json()).toEqual({
        error:
          "There isn't enough space for part.bin. Your files can take 5 MB together: delete some, then send it again.",
        reason: "not-enough-space",
        values: { fileName: "part.bin", quota: { bytes: 5_000_000 } },
      })
      await Promise.all((await list(ada)).map(remove))
    })

    test("a body that breaks off, and stores nothing of it", async () => {
      const request = openRequest(`${api.app.origin}/api/files?name=half.bin`, {
        method: "POST",
        headers: { cookie: ada.cookie(), origin: api.app.origin, "content-length": 900_000 },
      })
      request.on("error", () => {})
      request.write(Buffer.alloc(400_000))
      await expect.poll(() => storedPaths(api.app)).toHaveLength(1)
      request.destroy()
      await expect.poll(() => storedPaths(api.app)).toEqual([])
      // Its share of the quota is free again.
      const responses = []
      for (let part = 0; part < 5; part++)
        responses.push(await post(ada, "part.bin", Buffer.alloc(1_000_000)))
      expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
      await Promise.all((await list(ada)).map(remove))
    })

    test("a false Content-Length", async () => {
      const head = `POST /api/files?name=a.txt HTTP/1.1\r\nHost: localhost\r\nOrigin: ${api.app.origin}\r\nCookie: ${ada.cookie()}\r\n`
      expect(
        statusesOf(await exchange(api.app.port, `${head}Content-Length: 10\r\n\r\nshort`)),
      ).not.toContain(201)
      expect(statusesOf(await exchange(api.app.port, `${head}Content-Length: -1\r\n\r\nx`))).toEqual([400])
      expect(statusesOf(await exchange(api.app.port, `${head}Content-Length: 1e3\r\n\r\nx`))).toEqual([400])
    })
  })
})

describe("GET /api/files/<id>", () => {
  let digits: FileSummary
  let etag: string

  beforeAll(async () => {
    digits = await firstFile(await post(ada, "digits.txt", Buffer.from("0123456789")))
    etag = (await ada(`/api/files/${digits._id}`)).headers.get("etag") ?? ""
  })
  afterAll(() => remove(digits))

  test("sends the bytes to their owner only, with scripts disabled", async () => {
    const response = await ada(`/api/files/${digits._id}`)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe("0123456789")
    const headers = Object.fromEntries(response.headers)
    expect(headers).toMatchObject({
      "accept-ranges": "bytes",
      "cache-control": expect.stringContaining("private"),
      "content-disposition": "inline; filename=digits.txt",
      "content-length": "10",
      "content-type": "text/plain; charset=utf-8",
      "cross-origin-resource-policy": "same-origin",
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
      vary: expect.stringContaining("Cookie"),
      "x-content-type-options": "nosniff",
      // So that our own page can show it beside the list.
      "x-frame-options": "SAMEORIGIN",
    })
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'.*; frame-ancestors 'self'; sandbox$/,
    )
  })

  test.each([
    ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
    ["bytes=4-", 206, "456789", "bytes 4-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=-99", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=8-99", 206, "89", "bytes 8-9/10"],
    ["bytes=9-9", 206, "9", "bytes 9-9/10"],
    ["bytes=10-", 416, null, "bytes */10"],
    ["bytes=-0", 416, null, "bytes */10"],
    ["bytes=5-4", 200, "0123456789", null],
    ["bytes=0-1,3-4", 200, "0123456789", null],
    ["bytes=-", 200, "0123456789", null],
    ["lines=0-3", 200, "0123456789", null],
    ["nonsense", 200, "0123456789", null],
  ])("answers Range: %s with %i", async (range, status, body, contentRange) => {
    const response = await ada(`/api/files/${digits._id}`, { headers: { range } })
    expect(response.status).toBe(status)
    expect(response.headers.get("content-range")).toBe(contentRange)
    if (body !== null) expect(await response.text()).toBe(body)
    if (body !== null) expect(response.headers.get("content-length")).toBe(String(body.length))
  })

  test("sends the range only while If-Range matches these bytes", async () => {
    for (const [condition, status] of [
      [etag, 206],
      ['"other"', 200],
      [`W/${etag}`, 200],
      [new Date().toUTCString(), 200],
    ] as const) {
      const headers = { range: "bytes=0-3", "if-range": condition }
      expect((await ada(`/api/files/${digits._id}`, { headers })).status).toBe(status)
    }
  })

  test("returns 304 if the client has the bytes", async () => {
    for (const tags of [etag, `"other", ${etag}`, `W/${etag}`, "*"]) {
      const response = await ada(`/api/files/${digits._id}`, { headers: { "if-none-match": tags } })
      expect(response.status).toBe(304)
      expect(response.headers.get("etag")).toBe(etag)
      expect(await response.text()).toBe("")
    }
    const other = await ada(`/api/files/${digits._id}`, { headers: { "if-none-match": '"other"' } })
    expect(other.status).toBe(200)
  })

  test("answers HEAD like GET, without the bytes", async () => {
    const response = await ada(`/api/files/${digits._id}`, {
      method: "HEAD",
      headers: { range: "bytes=0-3" },
    })
    expect(response.status).toBe(200)
    expect(response.headers.get("content-length")).toBe("10")
    expect(response.headers.get("etag")).toBe(etag)
    expect(await response.text()).toBe("")
  })

  test("sends an empty file", async () => {
    const empty = await firstFile(await post(ada, "empty.txt", Buffer.alloc(0)))
    const response = await ada(`/api/files/${empty._id}`)
    expect(response.headers.get("content-length")).toBe("0")
    expect(await response.text()).toBe("")
    expect((await ada(`/api/files/${empty._id}`, { headers: { range: "bytes=0-" } })).status).toBe(416)
    await remove(empty)
  })

  test.each([
    ["page.html", "<!doctype html><script>alert(1)</script>"],
    ["drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"],
    ["feed.xml", "<?xml version='1.0'?><x:script xmlns:x='http://www.w3.org/1999/xhtml'>alert(1)</x:script>"],
    ["code.js", "alert(1)"],
    ["archive.mhtml", "MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<script>alert(1)</script>"],
    ["unknown", Buffer.from([0, 1, 2, 3])],
  ])("serves %s as a download or as plain text", async (name, content) => {
    const file = await firstFile(await post(ada, name, Buffer.from(content)))
    const response = await ada(`/api/files/${file._id}`)
    const isPlainText = response.headers.get("content-type") === "text/plain; charset=utf-8"
    if (!isPlainText) expect(response.headers.get("content-disposition")).toMatch(/^attachment/)
    expect(response.headers.get("content-security-policy")).toMatch(/sandbox$/)
    expect(response.headers.get("x-content-type-options")).toBe("nosniff")
    await remove(file)
  })

  test("serves any type as a download if ?download is set", async () => {
    const response = await ada(`/api/files/${digits._id}?download`)
    expect(response.headers.get("content-disposition")).toBe("attachment; filename=digits.txt")
  })

  test.each([
    ["../../etc/passwd", "passwd"],
    ["a\r\nSet-Cookie: stolen=1.txt", "aSet-Cookie: stolen=1.txt"],
    ['quo"te;.txt', 'quo"te;.txt'],
    ["invoice\u202Efdp.exe", "invoicefdp.exe"],
    ["한글 😀.txt", "한글 😀.txt"],
    ["null\0byte.txt", "nullbyte.txt"],
    ["NUL", "_NUL"],
    [`${"👍".repeat(80)}.txt`, `${"👍".repeat(62)}.txt`],
  ])("names the file sent as %j in a well-formed header", async (sent, kept) => {
    const file = await firstFile(await post(ada, sent, Buffer.from("x")))
    expect(file.fileName).toBe(kept)
    const response = await ada(`/api/files/${file._id}`)
    expect(response.headers.get("set-cookie")).toBeNull()
    const { parameters } = parseDisposition(response.headers.get("content-disposition") ?? "")
    expect(parameters["filename"]).toBe(kept)
    await remove(file)
  })
})

describe("PATCH /api/files/<id>", () => {
  let file: FileSummary
  beforeAll(async () => {
    file = await firstFile(await post(ada, "draft.txt", Buffer.from("x")))
  })
  afterAll(() => remove(file))

  test("renames the file", async () => {
    const response = await rename(ada, file._id, { fileName: "final.txt" })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ file: { ...file, fileName: "final.txt" } })
    expect(await list(ada)).toMatchObject([{ fileName: "final.txt" }])
  })

  test.each([
    [{}, "Give the file a name."],
    [{ fileName: "   " }, "Give the file a name."],
    [{ fileName: 7 }, "Give the file a name."],
    [{ fileName: "a/b" }, "A file name cannot contain / or \\."],
    [{ fileName: "x".repeat(256) }, "A file name can have up to 255 bytes."],
  ])("refuses %j", async (body, error) => {
    const response = await rename(ada, file._id, body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error, reason: expect.stringMatching(/^file-name-/) })
  })

  test("refuses a body that is not JSON, and a name that is taken", async () => {
    expect((await ada(`/api/files/${file._id}`, { method: "PATCH", body: "{" })).status).toBe(400)
    const other = await firstFile(await post(ada, "taken.txt", Buffer.from("x")))
    expect((await rename(ada, file._id, { fileName: "taken.txt" })).status).toBe(409)
    await remove(other)
  })
})

describe("access to a file", () => {
  test("is for its owner only: others receive 404, and visitors 401", async () => {
    const file = await firstFile(await post(ada, "private.txt", Buffer.from("private")))
    const acts: RequestInit[] = [
      { method: "GET" },
      { method: "GET", headers: { range: "bytes=0-1" } },
      { method: "HEAD" },
      { method: "PATCH", body: JSON.stringify({ fileName: "mine.txt" }) },
      { method: "DELETE" },
    ]
    for (const act of acts) {
      const foreign = await grace(`/api/files/${file._id}`, act)
      const missing = await grace(`/api/files/${NOBODYS}`, act)
      const malformed = await grace("/api/files/no-id", act)
      expect([foreign.status, missing.status, malformed.status]).toEqual([404, 404, 404])
      const answer = await foreign.text()
      expect(await missing.text()).toBe(answer)
      expect(await malformed.text()).toBe(answer)
      expect((await api.visitor(`/api/files/${file._id}`, act)).status).toBe(401)
    }
    expect(await list(grace)).toEqual([])
    expect(await (await ada(`/api/files/${file._id}`)).text()).toBe("private")
    await remove(file)
    expect((await ada(`/api/files/${file._id}`, { method: "DELETE" })).status).toBe(404)
  })

  test("is limited to the listed methods", async () => {
    for (const [path, method, allowed] of [
      ["/api/files", "DELETE", "GET, HEAD, POST"],
      ["/api/files", "PUT", "GET, HEAD, POST"],
      [`/api/files/${NOBODYS}`, "POST", "GET, HEAD, PATCH, DELETE"],
      [`/api/files/${NOBODYS}`, "PUT", "GET, HEAD, PATCH, DELETE"],
    ] as const) {
      const response = await ada(path, { method })
      expect(response.status).toBe(405)
      expect(response.headers.get("allow")).toBe(allowed)
    }
  })
})

describe("GET /api/files", () => {
  test("is paged, sorted and searched as requested", async () => {
    for (const name of ["c.txt", "a.txt", "b.md"])
      await post(ada, name, Buffer.from(name.repeat(name.charCodeAt(0))))
    const first = (await (await ada("/api/files?limit=2&sort=name")).json()) as Page
    expect(first.files.map(({ fileName }) => fileName)).toEqual(["a.txt", "b.md"])
    const second = (await (
      await ada(`/api/files?limit=2&sort=name&cursor=${first.nextCursor}`)
    ).json()) as Page
    expect(second.files.map(({ fileName }) => fileName)).toEqual(["c.txt"])
    expect(second.nextCursor).toBeNull()
    const found = (await (await ada("/api/files?q=TXT&sort=oldest")).json()) as Page
    expect(found.files.map(({ fileName }) => fileName)).toEqual(["c.txt", "a.txt"])
    expect((await ada("/api/files?cursor=nonsense")).status).toBe(400)
    expect((await ada("/api/files?q=%00")).status).toBe(200)
    await Promise.all((await list(ada)).map(remove))
  })
})

interface Page {
  files: FileSummary[]
  nextCursor: string | null
}

function post(person: Person, name: string, body: Buffer) {
  return person(`/api/files?name=${encodeURIComponent(name)}`, { method: "POST", body: new Uint8Array(body) })
}

function streamed(...pieces: string[]) {
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(new TextEncoder().encode(piece))
    },
  })
  // Node's fetch requires `duplex`, which the browser's types lack.
  return { method: "POST", body, duplex: "half" } as RequestInit
}

async function firstFile(response: Response): Promise<FileSummary> {
  const { files } = (await response.json()) as { files?: FileSummary[] }
  if (!files?.[0]) throw new Error(`No file was stored: ${response.status}`)
  return files[0]
}

function rename(person: Person, id: string, body: object) {
  return person(`/api/files/${id}`, { method: "PATCH", body: JSON.stringify(body) })
}

async function list(person: Person) {
  return ((await (await person("/api/files?limit=100")).json()) as Page).files
}

async function remove({ _id }: FileSummary) {
  expect((await ada(`/api/files/${_id}?permanently=1`, { method: "DELETE" })).status).toBe(204)
}

describe("the time at which a file was modified", () => {
  const modifiedAt = Date.UTC(2019, 6, 20, 20, 17, 40)

  test("is taken with a body, a form and an upload in parts, and is in the response to a download", async () => {
    const body = await firstFile(
      await ada(`/api/files?name=body.txt&lastModified=${modifiedAt}`, { method: "POST", body: "1" }),
    )
    const form = new FormData()
    form.append("lastModified", String(modifiedAt))
    form.append("file", new Blob(["2"]), "form.txt")
    form.append("file", new Blob(["3"]), "unknown.txt")
    const inForm = await ada("/api/files", { method: "POST", body: form })
    const { files } = (await inForm.json()) as { files: FileSummary[] }
    const parts = await ada("/api/files/uploads", {
      method: "POST",
      headers: {
        "Tus-Resumable": "1.0.0",
        "Upload-Length": "1",
        "Upload-Metadata": `filename ${btoa("parts.txt")},lastModified ${btoa(String(modifiedAt))}`,
        "Content-Type": "application/offset+octet-stream",
      },
      body: "4",
    })
    expect(parts.status).toBe(201)
    const page = (await (await ada("/api/files?sort=modified-oldest")).json()) as { files: FileSummary[] }
    expect(page.files.map((file) => [file.fileName, file.modifiedAt])).toEqual([
      ["body.txt", modifiedAt],
      ["form.txt", modifiedAt],
      ["parts.txt", modifiedAt],
      ["unknown.txt", undefined],
    ])
    expect((await ada(`/api/files/${body._id}`)).headers.get("last-modified")).toBe(
      "Sat, 20 Jul 2019 20:17:40 GMT",
    )
    expect((await ada(`/api/files/${files[1]?._id}`)).headers.get("last-modified")).toBeNull()
    await Promise.all(page.files.map(remove))
  })

  test.each(["yesterday", "", "1e3", "99999999999999999", "9000000000000000"])(
    "is refused as %j, and nothing is stored",
    async (said) => {
      const response = await ada(`/api/files?name=a.txt&lastModified=${said}`, { method: "POST", body: "1" })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ reason: "file-modified-unfit" })
      const form = new FormData()
      form.append("lastModified", said)
      form.append("file", new Blob(["2"]), "form.txt")
      expect((await ada("/api/files", { method: "POST", body: form })).status).toBe(400)
      expect(await (await ada("/api/files")).json()).toMatchObject({ files: [] })
    },
  )
})

test.each([
  ["image/bmp", "424d1e000000000000001a0000000c000000010001000100180000000000"],
  ["image/x-icon", "00000100010001010000010020003000000016000000"],
  [
    "image/apng",
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489000000086163544c0000000100000000b92d6d88",
  ],
])("a picture of the type %s is shown in place, without a thumbnail", async (mimeType, hex) => {
  const file = await firstFile(await post(ada, "picture", Buffer.from(hex, "hex")))
  expect(file.mimeType).toBe(mimeType)
  const response = await ada(`/api/files/${file._id}`)
  expect(response.headers.get("content-disposition")).toMatch(/^inline/)
  expect((await ada(`/api/files/${file._id}/thumbnail`)).status).toBe(415)
  await remove(file)
})
