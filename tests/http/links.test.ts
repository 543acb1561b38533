import { describe, expect, it } from "vitest"
import type { LinkRow, NewLink } from "#server/links/contract.ts"
import { post } from "../support/api.ts"
import { checkedFetch, type Fetch } from "../support/openapi.ts"
import { ada as adaLovelace, grace as graceHopper, openBrowser } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const NOBODYS = "01999999-9999-7999-8999-999999999999"
const HOUR = 60 * 60 * 1000
const GONE = {
  error: "This link doesn't work. Ask the person who sent it for a new one.",
  reason: "link-dead",
}
const PASSWORD = { password: "öpen sesame" }

const { app, sql, ada, grace } = withTideline({
  settings: { TRUSTED_PROXIES: "1" },
  people: { ada: adaLovelace, grace: graceHopper },
})
const visitor: Fetch = (address, init) => checkedFetch(app.origin)(address, init)

/** What a link leads to. `make` resolves with the id of a new one with "digits" in its name. */
const TARGETS = [
  {
    target: "a file",
    path: "/share",
    behind: "/download",
    others: ["/preview"],
    things: "/api/files",
    links: "/api/files/shares",
    table: "file_shares",
    of: "file_id",
    async make(): Promise<string> {
      const answer = await ada("/api/files?name=digits.txt", { method: "POST", body: "0123456789" })
      return ((await answer.json()) as { files: [{ _id: string }] }).files[0]._id
    },
  },
  {
    target: "a conversation",
    path: "/share/chat",
    behind: "/events",
    others: [],
    things: "/api/chat/threads",
    links: "/api/chat/shares",
    table: "chat_shares",
    of: "thread_id",
    async make(): Promise<string> {
      const answer = await ada("/api/chat/threads", post({ title: "digits" }))
      return ((await answer.json()) as { thread: { _id: string } }).thread._id
    },
  },
] as const

describe.each(TARGETS)(
  "a link to $target",
  ({ target, path, behind, others, things, links, table, of, make }) => {
    it("gives anyone the page, and nothing that says who may see more", async () => {
      const id = await make()
      const { url, share } = await shareIt(id, {})
      expect(url).toMatch(new RegExp(`^${app.origin}${path}/[\\w-]{27}$`))
      expect(url.endsWith(share.hint)).toBe(true)
      expect(share).toMatchObject({ hasPassword: false, expiresAt: null })
      const page = await visitor(url)
      expect(page.status).toBe(200)
      expect(Object.fromEntries(page.headers)).toMatchObject({
        "cache-control": "private, no-store",
        "referrer-policy": "same-origin",
        "x-robots-tag": "noindex, nofollow",
      })
      const html = await page.text()
      for (const words of ["Ada Lovelace", "digits", "noindex"]) expect(html).toContain(words)
      for (const secret of [id, "ada@example.org"]) expect(html).not.toContain(secret)
    })

    it("is stored as a hash, and appears in no log", async () => {
      const { url } = await shareIt(await make(), PASSWORD)
      await (await visitor(url + behind)).text()
      const token = url.split("/").at(-1) ?? ""
      const [row] = await sql`select s::text as all from ${sql(table)} s order by _id desc limit 1`
      expect(row?.["all"]).not.toContain(token)
      expect(row?.["all"]).not.toContain("sesame")
      const [remembered] = await sql`
      select count(*)::int as number from realtime.mutations where value::text like ${`%${token}%`}`
      expect(remembered?.["number"]).toBe(0)
      await expect.poll(() => app.log.some((line) => line.includes(`${path}/…${behind}`))).toBe(true)
      expect(app.log.join("\n")).not.toContain(token)
    })

    it("stops working as soon as it is revoked", async () => {
      const { url, share } = await shareIt(await make(), {})
      expect((await visitor(url)).status).toBe(200)
      expect((await ada(`${links}/${share._id}`, { method: "DELETE" })).status).toBe(204)
      await expectGone(url)
      expect((await ada(`${links}/${share._id}`, { method: "DELETE" })).status).toBe(404)
    })

    it("stops working when it expires", async () => {
      const { url, share } = await shareIt(await make(), { expiresAt: Date.now() + HOUR })
      expect(await (await visitor(url)).text()).toContain("The link works until")
      await sql`update ${sql(table)} set expires_at = ${Date.now() - 1} where _id = ${share._id}`
      await expectGone(url)
    })

    it("does not work while what it leads to is in the trash, and works again after a restore", async () => {
      const id = await make()
      const { url } = await shareIt(id, {})
      await ada(`${things}/${id}`, { method: "DELETE" })
      await expectGone(url)
      await ada(`${things}/${id}/restore`, { method: "POST" })
      expect((await visitor(url)).status).toBe(200)
    })

    it.each(["x", "x".repeat(27), "..%2Fdigits", "a%00b", "x".repeat(99)])(
      "that was never created, %s, is not found",
      async (token) => {
        for (const address of ["", behind, ...others].map((rest) => `${path}/${token}${rest}`))
          expect([400, 404]).toContain((await visitor(address)).status)
      },
    )

    it("with a password shows nothing before it is entered but who shares", async () => {
      const { url } = await shareIt(await make(), PASSWORD)
      const html = await (await visitor(url)).text()
      expect(html).toContain(`Ada Lovelace shared ${target} with you`)
      expect(html).toContain("Password")
      expect(html).not.toContain("digits")
      expect((await visitor(url + behind)).status).toBe(401)
    })

    it("with a password opens for anyone who knows it, and only that link", async () => {
      const [{ url }, other] = [await shareIt(await make(), PASSWORD), await shareIt(await make(), PASSWORD)]
      const browser = openBrowser(app)
      const answer = await browser(url, formOf(PASSWORD))
      expect([answer.status, answer.headers.get("location")]).toEqual([303, new URL(url).pathname])
      const [cookie = ""] = answer.headers.getSetCookie()
      expect(cookie).toMatch(
        /^share_password=\d+\.[\w-]{43}; Path=\/share(\/chat)?\/[\w-]{27}; Max-Age=1800; SameSite=Lax; HttpOnly$/,
      )
      expect(await (await browser(url)).text()).toContain("digits")
      expect(await (await browser(other.url)).text()).not.toContain("digits")
      expect((await browser(other.url + behind)).status).toBe(401)
    })

    it("rejects a cookie with an altered expiry, or one made for a download", async () => {
      const { url } = await shareIt(await make(), PASSWORD)
      const answer = await openBrowser(app)(url, formOf(PASSWORD))
      const [, until = "", seal = ""] = /=(\d+)\.([\w-]+)/.exec(answer.headers.getSetCookie()[0] ?? "") ?? []
      const pageWith = async (cookie: string) => (await visitor(url, { headers: { cookie } })).text()
      expect(await pageWith(`share_password=${until}.${seal}`)).toContain("digits")
      for (const cookie of [
        `share_password=${Number(until) + 1}.${seal}`,
        `share_download=${until}.${seal}`,
      ]) {
        expect(await pageWith(cookie)).not.toContain("digits")
        expect((await visitor(url + behind, { headers: { cookie } })).status).toBe(401)
      }
    })

    it("reports a wrong password, and limits each visitor to twenty guesses without affecting others", async () => {
      const { url } = await shareIt(await make(), PASSWORD)
      const guess = (password: string, network = `192.0.2.${path.length}`) => {
        // The last address is the one that the trusted proxy added.
        const headers = { "x-forwarded-for": `198.51.100.${password.length}, ${network}` }
        return openBrowser(app)(url, { ...formOf({ password }), headers })
      }
      const first = await guess("sesame")
      expect(first.status).toBe(403)
      expect(first.headers.getSetCookie()).toEqual([])
      const html = await first.text()
      expect(html).toContain("That password is wrong.")
      expect(html).not.toContain("digits")
      expect((await guess("")).status).toBe(400)
      for (let number = 1; number < 20; number++) expect((await guess(`guess ${number}`)).status).toBe(403)
      const late = await guess(PASSWORD.password)
      expect(late.status).toBe(429)
      expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0)
      expect(await late.text()).toContain("Too many attempts.")
      expect((await guess(PASSWORD.password, "192.0.2.99")).status).toBe(303)
    })

    it("accepts the password from its own page only", async () => {
      const { url } = await shareIt(await make(), PASSWORD)
      const headers = { origin: "https://elsewhere.example" }
      const answer = await fetch(url, { ...formOf(PASSWORD), headers })
      expect([400, 403]).toContain(answer.status)
      expect(answer.headers.getSetCookie()).toEqual([])
    })

    it.each([
      [{ expiresAt: 1 }, "The expiry of the link is in the past."],
      [{ expiresAt: "tomorrow" }, "The expiry of a link is a time in milliseconds since 1970."],
      [{ expiresAt: 9e15 }, "A link can be valid for up to ten years."],
      [{ password: "" }, "A password has 1 to 200 characters. Leave it out for a link without one."],
      [
        { password: "x".repeat(201) },
        "A password has 1 to 200 characters. Leave it out for a link without one.",
      ],
    ])("is refused with %j", async (limits, error) => {
      const answer = await ada(`${things}/${await make()}/shares`, post(limits))
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ error, reason: expect.stringMatching(/^link-/) })
    })

    it("is one of a hundred at most, also for several who ask at one moment", async () => {
      const id = await make()
      await sql`
      insert into ${sql(table)} (user_id, ${sql(of)}, token_hash, hint)
      select _id, ${id}, encode(sha256((${table} || n)::bytea), 'hex'), 'hint' from users, generate_series(1, 99) n
      where email = ${adaLovelace.email}`
      const answers = await Promise.all([1, 2, 3].map(() => ada(`${things}/${id}/shares`, post({}))))
      expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["201", "409", "409"])
      const refused = answers.find(({ status }) => status === 409)
      expect(await refused?.json()).toMatchObject({ reason: expect.stringMatching(/^too-many-/) })
    })

    it("is created, listed and revoked by its owner only", async () => {
      const id = await make()
      const { share } = await shareIt(id, {})
      const acts: [string, RequestInit][] = [
        [`${things}/${id}/shares`, {}],
        [`${things}/${id}/shares`, { method: "HEAD" }],
        [`${things}/${id}/shares`, post({})],
        [`${links}/${share._id}`, { method: "DELETE" }],
      ]
      for (const [address, init] of acts) {
        for (const which of [
          address,
          address.replace(/[0-9a-f-]{36}/, NOBODYS),
          address.replace(/[0-9a-f-]{36}/, "no-id"),
        ])
          expect((await grace(which, init)).status).toBe(404)
        expect((await visitor(address, init)).status).toBe(401)
      }
      expect(await (await ada(`${things}/${id}/shares`)).json()).toEqual({ shares: [share] })
    })

    async function shareIt(id: string, limits: object): Promise<NewLink<LinkRow>> {
      const answer = await ada(`${things}/${id}/shares`, post(limits))
      expect(answer.status).toBe(201)
      return (await answer.json()) as NewLink<LinkRow>
    }

    async function expectGone(url: string) {
      const page = await visitor(url)
      expect(page.status).toBe(404)
      expect(page.headers.get("x-robots-tag")).toContain("noindex")
      const html = await page.text()
      expect(html).toContain("This link doesn&#x27;t work")
      expect(html).not.toContain("digits")
      const further = await visitor(url + behind)
      expect(further.status).toBe(404)
      expect(await further.json()).toEqual(GONE)
    }
  },
)

function formOf(fields: Record<string, string>): RequestInit {
  return { method: "POST", body: new URLSearchParams(fields), redirect: "manual" }
}
