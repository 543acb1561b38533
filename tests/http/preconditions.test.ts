import { beforeAll, describe, expect, it } from "vitest"
import { post } from "../support/api.ts"
import { withTideline } from "../support/with-tideline.ts"

let path: string
let etag: string

const { ada, grace } = withTideline({
  people: {
    ada: { email: "ada@example.org", name: "Ada Lovelace" },
    grace: { email: "grace@example.org", name: "Grace Hopper" },
  },
})

beforeAll(async () => {
  const uploaded = await ada("/api/files?name=a.txt&lastModified=1700000000500", {
    method: "POST",
    body: "a",
  })
  path = `/api/files/${(await uploaded.json()).files[0]._id}`
  etag = (await ada(path, { method: "HEAD" })).headers.get("etag") ?? ""
})

const REFUSED = { reason: "precondition-failed" }

describe("a download", () => {
  it.each([
    ["If-Match", () => etag, 200],
    ["If-Match", () => `"other", ${etag}`, 200],
    ["If-Match", () => "*", 200],
    ["If-Match", () => '"other"', 412],
    ["If-Match", () => `W/${etag}`, 412],
    ["If-Unmodified-Since", () => "Tue, 14 Nov 2023 22:13:20 GMT", 200],
    ["If-Unmodified-Since", () => "Tue, 14 Nov 2023 22:13:19 GMT", 412],
    ["If-Unmodified-Since", () => "yesterday", 200],
  ])("with the condition %s is answered by it (%#)", async (name, value, status) => {
    const response = await ada(path, { headers: { [name]: value() } })
    expect(response.status).toBe(status)
    if (status === 412) expect(await response.json()).toMatchObject(REFUSED)
  })
})

describe("a change", () => {
  it("of a file is made only while If-Match names its bytes", async () => {
    const rename = (wanted: string) => {
      const headers = { "Content-Type": "application/json", "If-Match": wanted }
      return ada(path, { method: "PATCH", headers, body: JSON.stringify({ fileName: "b.txt" }) })
    }
    expect((await rename('"other"')).status).toBe(412)
    expect((await ada(path, { method: "DELETE", headers: { "If-Match": '"other"' } })).status).toBe(412)
    const unread = { "Content-Type": "application/json", "If-Match": '"other"' }
    expect((await ada(path, { method: "PATCH", headers: unread, body: "{}" })).status).toBe(412)
    expect((await ada(`${path}?permanently=2`, { method: "DELETE", headers: unread })).status).toBe(412)
    expect(await nameOf()).toBe("a.txt")
    expect((await rename(etag)).status).toBe(200)
    expect((await rename("*")).status).toBe(200)
    expect(await nameOf()).toBe("b.txt")
  })

  it("says of somebody else's file only that there is none", async () => {
    for (const wanted of [etag, '"other"'])
      expect((await grace(path, { method: "DELETE", headers: { "If-Match": wanted } })).status).toBe(404)
  })

  it("of what has no ETag is refused with If-Match, and not made", async () => {
    const made = await ada("/api/chat/threads", post({ title: "Tides" }))
    const thread = `/api/chat/threads/${(await made.json()).thread._id}`
    const condition = { headers: { "If-Match": etag } }
    for (const address of [thread, "/api/spaces/01a1fabb-7bb3-7c55-803b-f2a3db625462"]) {
      const response = await ada(address, { method: "DELETE", ...condition })
      expect(response.status).toBe(412)
      expect(await response.json()).toMatchObject(REFUSED)
    }
    expect((await ada(thread)).status).toBe(200)
    expect((await ada(thread, { method: "DELETE", headers: { "If-Match": "*" } })).status).toBe(204)
  })
})

async function nameOf(): Promise<string> {
  const { files } = (await (await ada("/api/files")).json()) as { files: { fileName: string }[] }
  return files[0]?.fileName ?? ""
}
