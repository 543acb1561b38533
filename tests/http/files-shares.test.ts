import { beforeAll, describe, expect, test } from "vitest"
import type { FileSummary, ShareSummary } from "#server/files/contract.ts"
import type { NewLink } from "#server/links/contract.ts"
import { post } from "../support/api.ts"
import { checkedFetch, type Fetch } from "../support/openapi.ts"
import { ada as adaLovelace, openBrowser } from "../support/people.ts"
import { PIXEL } from "../support/space-routes.ts"
import { withTideline } from "../support/with-tideline.ts"

let digits: FileSummary

const { app, ada } = withTideline({ people: { ada: adaLovelace } })
const visitor: Fetch = (address, init) => checkedFetch(app.origin)(address, init)

beforeAll(async () => {
  digits = await store("digits.txt", "0123456789")
})

describe("the page of a share link", () => {
  test("shows a picture, which is no download", async () => {
    const picture = await store("lamp.png", PIXEL)
    const { url } = await shareIt({}, picture)
    expect(await (await visitor(url)).text()).toContain(`<img src="${new URL(url).pathname}/preview"`)
    const preview = await visitor(`${url}/preview`)
    expect(preview.status).toBe(200)
    expect(Object.fromEntries(preview.headers)).toMatchObject({
      "cache-control": "private, no-store, no-transform",
      "content-disposition": "inline; filename=lamp.png",
      "content-type": "image/png",
      "content-security-policy": expect.stringMatching(/sandbox$/),
    })
    expect(Buffer.from(await preview.arrayBuffer())).toEqual(PIXEL)
    expect((await sharesOf(picture))[0]?.downloads).toBe(0)
  })

  test("shows a text as it is, and Markdown rendered, without scripts and without running theirs", async () => {
    expect(await pageOf("plain.txt", "high at six")).toContain("high at six</pre>")
    expect(await pageOf("page.html", "<script>alert(1)</script>")).toContain("&lt;script&gt;alert(1)")
    const markdown = await pageOf("notes.md", "# Tides\n\nIt is **high**.")
    expect(markdown).toContain("<strong")
    expect(markdown).not.toContain("# Tides")
    expect(markdown).not.toContain("<script")
  })

  test("shows the beginning of a long text", async () => {
    const { url } = await shareIt({}, await store("long.txt", `${"tide ".repeat(20_000)}the end`))
    const html = await (await visitor(url)).text()
    expect(html).toContain("This is the beginning")
    expect(html).not.toContain("the end")
    expect((await visitor(`${url}/preview`)).status).toBe(404)
  })

  test("shows nothing of a file whose downloads are limited, or before the password", async () => {
    const picture = await store("secret.png", PIXEL)
    const limited = await shareIt({ maxDownloads: 1 }, picture)
    expect(await (await visitor(limited.url)).text()).not.toContain("<img")
    expect((await visitor(`${limited.url}/preview`)).status).toBe(404)
    const locked = await shareIt({ password: "open sesame" }, picture)
    expect(await (await visitor(locked.url)).text()).not.toContain("<img")
    expect((await visitor(`${locked.url}/preview`)).status).toBe(401)
  })
})

describe("a share link", () => {
  test("gives anyone the page, and the bytes as a download", async () => {
    const { url, share } = await shareIt({})
    expect(share).toMatchObject({ fileId: digits._id, downloads: 0 })
    const html = await (await visitor(url)).text()
    for (const words of ["digits.txt", "TXT text", "10 B"]) expect(html).toContain(words)

    const download = await visitor(`${url}/download`)
    expect(download.status).toBe(200)
    expect(await download.text()).toBe("0123456789")
    expect(Object.fromEntries(download.headers)).toMatchObject({
      "cache-control": "private, no-store, no-transform",
      "content-disposition": "attachment; filename=digits.txt",
      "content-length": "10",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringMatching(/sandbox$/),
    })
  })

  test("shows its creator how often it was used", async () => {
    const { url, share } = await shareIt({ maxDownloads: 5 })
    await get(url)
    await get(url)
    expect(await sharesOf(digits)).toContainEqual({ ...share, downloads: 2 })
  })

  test("is deleted with its file", async () => {
    const file = await store("short-lived.txt", "x")
    const { url } = await shareIt({}, file)
    await ada(`/api/files/${file._id}?permanently=1`, { method: "DELETE" })
    await expectGone(url)
  })
})

describe("a link with a number of downloads", () => {
  test("is used up after that many, for any later visitor", async () => {
    const { url } = await shareIt({ maxDownloads: 1 })
    expect(await (await get(url)).text()).toBe("0123456789")
    await expectGone(url)
  })

  test("serves one of two concurrent requests for its last download", async () => {
    const { url, share } = await shareIt({ maxDownloads: 1 })
    const answers = await Promise.all(Array.from({ length: 12 }, () => get(url)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 404)).toHaveLength(11)
    expect((await sharesOf(digits)).find(({ _id }) => _id === share._id)?.downloads).toBe(1)
  })

  test("does not count HEAD, unchanged content, or ranges out of bounds", async () => {
    const { url, share } = await shareIt({ maxDownloads: 1 })
    const head = await visitor(`${url}/download`, { method: "HEAD" })
    expect(head.status).toBe(200)
    expect(head.headers.get("content-length")).toBe("10")
    const etag = head.headers.get("etag") ?? ""
    expect((await get(url, { "if-none-match": etag })).status).toBe(304)
    expect((await get(url, { range: "bytes=90-" })).status).toBe(416)
    expect((await sharesOf(digits)).find(({ _id }) => _id === share._id)?.downloads).toBe(0)
    expect((await get(url)).status).toBe(200)
    expect((await visitor(`${url}/download`, { method: "HEAD" })).status).toBe(404)
  })

  test("lets the browser whose download was counted continue it, and nobody else", async () => {
    const { url } = await shareIt({ maxDownloads: 1 })
    const browser = openBrowser(app)
    const first = await browser(`${url}/download`, { headers: { range: "bytes=0-3" } })
    expect([first.status, await first.text()]).toEqual([206, "0123"])
    const [cookie = ""] = first.headers.getSetCookie()
    expect(cookie).toMatch(/^share_download=/)
    const { pathname } = new URL(url)
    for (const attribute of [`Path=${pathname}`, "HttpOnly", "SameSite=Lax"])
      expect(cookie).toContain(attribute)

    const second = await browser(`${url}/download`, { headers: { range: "bytes=4-" } })
    expect([second.status, await second.text()]).toEqual([206, "456789"])
    expect((await browser(`${url}/download`)).status).toBe(404)
    expect((await get(url, { range: "bytes=1-" })).status).toBe(404)
  })

  test("counts a range from the middle without a preceding download", async () => {
    const { url } = await shareIt({ maxDownloads: 1 })
    expect((await get(url, { range: "bytes=1-" })).status).toBe(206)
    await expectGone(url)
  })

  test("rejects a cookie that it did not issue", async () => {
    const { url } = await shareIt({ maxDownloads: 1 })
    const other = await shareIt({ maxDownloads: 1 })
    const browser = openBrowser(app)
    await browser(`${other.url}/download`)
    await get(url)
    for (const cookie of [browser.cookie(), "share_download=99999999999999.AAAA", "share_download=1.x"])
      expect((await get(url, { range: "bytes=1-", cookie })).status).toBe(404)
  })
})

describe("a link with a password", () => {
  test("gives neither the bytes nor their hash before the password is entered, and leads a person to the page", async () => {
    const { url } = await shareIt({ password: "open sesame" })
    const download = await visitor(`${url}/download`)
    expect(download.status).toBe(401)
    expect(download.headers.get("etag")).toBeNull()
    expect((await visitor(`${url}/download`, { method: "HEAD" })).status).toBe(401)
    const person = await get(url, { accept: "text/html" }, "manual")
    expect([person.status, person.headers.get("location")]).toEqual([303, new URL(url).pathname])
    const browser = openBrowser(app)
    const form = new URLSearchParams({ password: "open sesame" })
    await browser(url, { method: "POST", body: form, redirect: "manual" })
    expect(await (await browser(`${url}/download`)).text()).toBe("0123456789")
  })
})

test.each([0, 1.5])("a link with %d downloads is refused", async (maxDownloads) => {
  const answer = await ada(`/api/files/${digits._id}/shares`, post({ maxDownloads }))
  expect(answer.status).toBe(400)
  const error = "The number of downloads is a whole number from 1 to 1,000,000."
  expect(await answer.json()).toMatchObject({ error, reason: expect.stringMatching(/^link-/) })
})

async function store(name: string, content: string | Buffer<ArrayBuffer>): Promise<FileSummary> {
  const answer = await ada(`/api/files?name=${name}`, { method: "POST", body: content })
  const { files } = (await answer.json()) as { files: FileSummary[] }
  if (!files[0]) throw new Error("Nothing was stored.")
  return files[0]
}

async function shareIt(limits: object, file = digits): Promise<NewLink<ShareSummary>> {
  const answer = await ada(`/api/files/${file._id}/shares`, post(limits))
  expect(answer.status).toBe(201)
  return (await answer.json()) as NewLink<ShareSummary>
}

async function pageOf(name: string, content: string): Promise<string> {
  const { url } = await shareIt({}, await store(name, content))
  return (await visitor(url)).text()
}

async function sharesOf(file: FileSummary) {
  const answer = await ada(`/api/files/${file._id}/shares`)
  return ((await answer.json()) as { shares: ShareSummary[] }).shares
}

function get(url: string, headers: Record<string, string> = {}, redirect: RequestRedirect = "follow") {
  return visitor(`${url}/download`, { headers, redirect })
}

async function expectGone(url: string) {
  for (const address of [url, `${url}/download`]) expect((await visitor(address)).status).toBe(404)
}
