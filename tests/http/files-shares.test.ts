import { beforeAll, describe, expect, test } from "vitest"
import postgres from "postgres"
import type { FileSummary, ShareSummary } from "#server/files/contract.ts"
import type { NewLink } from "#server/links/contract.ts"
import { callers, post, type Api } from "../support/api.ts"
import { startTideline } from "../support/app.ts"
import {
  ada as adaLovelace,
  grace as graceHopper,
  openBrowser,
  signUp,
  type Person,
} from "../support/people.ts"

const NOBODYS = "01999999-9999-7999-8999-999999999999"
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)
const HOUR = 60 * 60 * 1000
const GONE = {
  error: "This link doesn't work. Ask the person who sent it for a new one.",
  reason: "link-dead",
}

let api: Api
let ada: Person
let grace: Person
let sql: postgres.Sql
let digits: FileSummary

beforeAll(async () => {
  api = callers(await startTideline({ TRUSTED_PROXIES: "1" }))
  sql = postgres(api.app.databaseUrl, { max: 1 })
  ada = await signUp(api.app, adaLovelace)
  grace = await signUp(api.app, graceHopper)
  digits = await store("digits.txt", "0123456789")
  return async () => {
    await sql.end()
    await api.app.stop()
  }
})

describe("the page of a share link", () => {
  test("shows a picture, which is no download", async () => {
    const picture = await store("lamp.png", PIXEL)
    const { url } = await shareIt({}, picture)
    expect(await (await api.visitor(url)).text()).toContain(`<img src="${new URL(url).pathname}/preview"`)
    const preview = await api.visitor(`${url}/preview`)
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
    const html = await (await api.visitor(url)).text()
    expect(html).toContain("This is the beginning")
    expect(html).not.toContain("the end")
    expect((await api.visitor(`${url}/preview`)).status).toBe(404)
  })

  test("shows nothing of a file whose downloads are limited, or before the password", async () => {
    const picture = await store("secret.png", PIXEL)
    const limited = await shareIt({ maxDownloads: 1 }, picture)
    expect(await (await api.visitor(limited.url)).text()).not.toContain("<img")
    expect((await api.visitor(`${limited.url}/preview`)).status).toBe(404)
    const locked = await shareIt({ password: "open sesame" }, picture)
    expect(await (await api.visitor(locked.url)).text()).not.toContain("<img")
    expect((await api.visitor(`${locked.url}/preview`)).status).toBe(401)
  })
})

describe("a share link", () => {
  test("gives anyone the page, and the bytes as a download", async () => {
    const { url, share } = await shareIt({})
    expect(url).toMatch(new RegExp(`^${api.app.origin}/share/[\\w-]{27}$`))
    expect(url.endsWith(share.hint)).toBe(true)
    expect(share).toMatchObject({ fileId: digits._id, downloads: 0, hasPassword: false, expiresAt: null })

    const page = await api.visitor(url)
    expect(page.status).toBe(200)
    expect(Object.fromEntries(page.headers)).toMatchObject({
      "cache-control": "private, no-store",
      "referrer-policy": "same-origin",
      "x-robots-tag": "noindex, nofollow",
    })
    const html = await page.text()
    for (const words of ["Ada Lovelace shared a file with you", "digits.txt", "TXT text", "10 B", "noindex"])
      expect(html).toContain(words)
    expect(html).not.toContain(digits._id)
    expect(html).not.toContain("ada@example.org")

    const download = await api.visitor(`${url}/download`)
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

  test("is stored as a hash, and appears in no log", async () => {
    const { url } = await shareIt({ password: "open sesame" })
    await (await api.visitor(`${url}/download`)).text()
    const token = url.split("/").at(-1) ?? ""
    const [row] = await sql`select s::text as all from file_shares s order by _id desc limit 1`
    expect(row?.["all"]).not.toContain(token)
    expect(row?.["all"]).not.toContain("sesame")
    const [remembered] = await sql`
      select count(*)::int as number from realtime.mutations where value::text like ${`%${token}%`}`
    expect(remembered?.["number"]).toBe(0)
    await expect.poll(() => api.app.log.some((line) => line.includes("/share/…/download"))).toBe(true)
    expect(api.app.log.join("\n")).not.toContain(token)
  })

  test("shows its creator how often it was used", async () => {
    const { url, share } = await shareIt({ maxDownloads: 5 })
    await get(url)
    await get(url)
    expect(await sharesOf(digits)).toContainEqual({ ...share, downloads: 2 })
  })

  test("stops working for the page and the bytes as soon as it is revoked", async () => {
    const { url, share } = await shareIt({})
    expect((await get(url)).status).toBe(200)
    expect((await ada(`/api/files/shares/${share._id}`, { method: "DELETE" })).status).toBe(204)
    await expectGone(url)
    expect((await ada(`/api/files/shares/${share._id}`, { method: "DELETE" })).status).toBe(404)
  })

  test("stops working when it expires", async () => {
    const { url, share } = await shareIt({ expiresAt: Date.now() + HOUR })
    expect(await (await api.visitor(url)).text()).toContain("The link works until")
    await sql`update file_shares set expires_at = ${Date.now() - 1} where _id = ${share._id}`
    await expectGone(url)
  })

  test("does not work while its file is in the trash, and works again after a restore", async () => {
    const { url } = await shareIt({})
    await ada(`/api/files/${digits._id}`, { method: "DELETE" })
    await expectGone(url)
    await ada(`/api/files/${digits._id}/restore`, { method: "POST" })
    expect((await get(url)).status).toBe(200)
  })

  test("is deleted with its file", async () => {
    const file = await store("short-lived.txt", "x")
    const { url } = await shareIt({}, file)
    await ada(`/api/files/${file._id}?permanently=1`, { method: "DELETE" })
    await expectGone(url)
  })

  test.each(["x", "x".repeat(27), "..%2Fdigits", "a%00b", "x".repeat(99)])(
    "that was never created, %s, is not found",
    async (token) => {
      for (const path of [`/share/${token}`, `/share/${token}/download`, `/share/${token}/preview`])
        expect([400, 404]).toContain((await api.visitor(path)).status)
    },
  )
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
    const head = await api.visitor(`${url}/download`, { method: "HEAD" })
    expect(head.status).toBe(200)
    expect(head.headers.get("content-length")).toBe("10")
    const etag = head.headers.get("etag") ?? ""
    expect((await get(url, { "if-none-match": etag })).status).toBe(304)
    expect((await get(url, { range: "bytes=90-" })).status).toBe(416)
    expect((await sharesOf(digits)).find(({ _id }) => _id === share._id)?.downloads).toBe(0)
    expect((await get(url)).status).toBe(200)
    expect((await api.visitor(`${url}/download`, { method: "HEAD" })).status).toBe(404)
  })

  test("lets the browser whose download was counted continue it, and nobody else", async () => {
    const { url } = await shareIt({ maxDownloads: 1 })
    const browser = openBrowser(api.app)
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
    const browser = openBrowser(api.app)
    await browser(`${other.url}/download`)
    await get(url)
    for (const cookie of [browser.cookie(), "share_download=99999999999999.AAAA", "share_download=1.x"])
      expect((await get(url, { range: "bytes=1-", cookie })).status).toBe(404)
  })
})

describe("a link with a password", () => {
  test("shows nothing of the file before the password is entered", async () => {
    const { url } = await shareIt({ password: "open sesame" })
    const html = await (await api.visitor(url)).text()
    expect(html).toContain("Password")
    expect(html).not.toContain("digits")
    const download = await api.visitor(`${url}/download`)
    expect(download.status).toBe(401)
    expect(download.headers.get("etag")).toBeNull()
    expect((await api.visitor(`${url}/download`, { method: "HEAD" })).status).toBe(401)
    const person = await get(url, { accept: "text/html" }, "manual")
    expect([person.status, person.headers.get("location")]).toEqual([303, new URL(url).pathname])
  })

  test("opens for anyone who knows the password, and only that link", async () => {
    const { url } = await shareIt({ password: "öpen sesame" })
    const other = await shareIt({ password: "öpen sesame" })
    const browser = openBrowser(api.app)
    const answer = await browser(url, formOf({ password: "öpen sesame" }))
    expect(answer.status).toBe(303)
    expect(answer.headers.get("location")).toBe(new URL(url).pathname)
    const [cookie = ""] = answer.headers.getSetCookie()
    expect(cookie).toMatch(
      /^share_password=\d+\.[\w-]{43}; Path=\/share\/[\w-]{27}; Max-Age=1800; SameSite=Lax; HttpOnly$/,
    )
    expect(await (await browser(url)).text()).toContain("digits.txt")
    expect(await (await browser(`${url}/download`)).text()).toBe("0123456789")
    expect((await browser(`${other.url}/download`)).status).toBe(401)
  })

  test("rejects a cookie with an altered expiry, or one made for a download", async () => {
    const { url } = await shareIt({ password: "open sesame" })
    const answer = await openBrowser(api.app)(url, formOf({ password: "open sesame" }))
    const [, until = "", seal = ""] = /=(\d+)\.([\w-]+)/.exec(answer.headers.getSetCookie()[0] ?? "") ?? []
    expect((await get(url, { cookie: `share_password=${until}.${seal}` })).status).toBe(200)
    for (const cookie of [`share_password=${Number(until) + 1}.${seal}`, `share_download=${until}.${seal}`])
      expect((await get(url, { cookie })).status).toBe(401)
  })

  test("reports a wrong password, and limits each visitor to twenty guesses without affecting others", async () => {
    const { url } = await shareIt({ password: "open sesame" })
    const guess = (password: string, network = "192.0.2.1") => {
      // The last address is the one that the trusted proxy added.
      const headers = { "x-forwarded-for": `198.51.100.${password.length}, ${network}` }
      return openBrowser(api.app)(url, { ...formOf({ password }), headers })
    }
    const first = await guess("sesame")
    expect(first.status).toBe(403)
    expect(first.headers.getSetCookie()).toEqual([])
    const html = await first.text()
    expect(html).toContain("That password is wrong.")
    expect(html).not.toContain("digits")
    expect((await guess("")).status).toBe(400)
    for (let number = 1; number < 20; number++) expect((await guess(`guess ${number}`)).status).toBe(403)
    const late = await guess("open sesame")
    expect(late.status).toBe(429)
    expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0)
    expect(await late.text()).toContain("Too many attempts.")
    expect((await guess("open sesame", "192.0.2.2")).status).toBe(303)
  })

  test("accepts the password from its own page only", async () => {
    const { url } = await shareIt({ password: "open sesame" })
    const form = formOf({ password: "open sesame" })
    const answer = await fetch(url, {
      ...form,
      redirect: "manual",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: "https://elsewhere.example" },
    })
    expect([400, 403]).toContain(answer.status)
    expect(answer.headers.getSetCookie()).toEqual([])
  })
})

describe("creating a link", () => {
  test.each([
    [{ expiresAt: 1 }, "The expiry of the link is in the past."],
    [{ expiresAt: "tomorrow" }, "The expiry of a link is a time in milliseconds since 1970."],
    [{ expiresAt: 9e15 }, "A link can be valid for up to ten years."],
    [{ password: "" }, "A password has 1 to 200 characters. Leave it out for a link without one."],
    [
      { password: "x".repeat(201) },
      "A password has 1 to 200 characters. Leave it out for a link without one.",
    ],
    [{ maxDownloads: 0 }, "The number of downloads is a whole number from 1 to 1,000,000."],
    [{ maxDownloads: 1.5 }, "The number of downloads is a whole number from 1 to 1,000,000."],
  ])("with %j is refused", async (body, error) => {
    const answer = await ada(`/api/files/${digits._id}/shares`, post(body))
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error, reason: expect.stringMatching(/^link-/) })
  })

  test("is limited to a hundred for one file", async () => {
    const file = await store("popular.txt", "x")
    await sql`
      insert into file_shares (user_id, file_id, token_hash, hint)
      select user_id, _id, encode(sha256(n::text::bytea), 'hex'), 'hint' from files, generate_series(1, 99) n
      where _id = ${file._id}`
    const answers = await Promise.all([1, 2, 3].map(() => ada(`/api/files/${file._id}/shares`, post({}))))
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["201", "409", "409"])
  })

  test("and listing or revoking it is for the file's owner only", async () => {
    const { share } = await shareIt({})
    const before = await sharesOf(digits)
    const acts: [string, RequestInit][] = [
      [`/api/files/${digits._id}/shares`, {}],
      [`/api/files/${digits._id}/shares`, { method: "HEAD" }],
      [`/api/files/${digits._id}/shares`, post({})],
      [`/api/files/shares/${share._id}`, { method: "DELETE" }],
    ]
    for (const [path, init] of acts) {
      expect((await grace(path, init)).status).toBe(404)
      expect((await grace(path.replace(/[0-9a-f-]{36}/, NOBODYS), init)).status).toBe(404)
      expect((await grace(path.replace(/[0-9a-f-]{36}/, "no-id"), init)).status).toBe(404)
      expect((await api.visitor(path, init)).status).toBe(401)
    }
    expect(await sharesOf(digits)).toEqual(before)
  })
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
  return (await api.visitor(url)).text()
}

async function sharesOf(file: FileSummary) {
  const answer = await ada(`/api/files/${file._id}/shares`)
  return ((await answer.json()) as { shares: ShareSummary[] }).shares
}

function get(url: string, headers: Record<string, string> = {}, redirect: RequestRedirect = "follow") {
  return api.visitor(`${url}/download`, { headers, redirect })
}

function formOf(fields: Record<string, string>): RequestInit {
  return { method: "POST", body: new URLSearchParams(fields), redirect: "manual" }
}

async function expectGone(url: string) {
  const page = await api.visitor(url)
  expect(page.status).toBe(404)
  expect(page.headers.get("x-robots-tag")).toContain("noindex")
  const html = await page.text()
  expect(html).toContain("This link doesn&#x27;t work")
  expect(html).not.toContain("digits")
  const download = await get(url)
  expect(download.status).toBe(404)
  expect(await download.json()).toEqual(GONE)
}
