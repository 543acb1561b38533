import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { sql } from "drizzle-orm"
import { describe, expect, it, onTestFinished } from "vitest"
import {
  checkRelease,
  findReleaseCheck,
  isNewer,
  judgeRelease,
  readRelease,
} from "#server/operator/releases.ts"
import { portOf } from "../support/port-of.ts"
import { createTestDatabase } from "../support/postgres.ts"

/** What GitHub answers, shortened. */
const LATEST = { tag_name: "v0.2.0", html_url: "https://example.org/notes", body: "…", draft: false }

async function openFeed(answer: { status?: number; body: string }) {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    response.writeHead(answer.status ?? 200).end(answer.body)
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${portOf(server)}/releases/latest`, asked, answer }
}

async function openWatching(releasesUrl: string | null) {
  const database = await createTestDatabase()
  onTestFinished(() => database.close())
  const scope = { db: database.db, config: { releasesUrl } }
  return {
    scope,
    /** One more process, at its start or an hour later. */
    look: () => checkRelease(scope),
    later: () => database.db.execute(sql`update release_checks set checked_at = checked_at - 86400000`),
  }
}

describe("the newest release", () => {
  it("is read from the API of a forge by a request that says nothing about this server", async () => {
    const feed = await openFeed({ body: JSON.stringify(LATEST) })
    expect(await readRelease(feed.url)).toEqual({ version: "0.2.0", notes: "https://example.org/notes" })
    const [request] = feed.asked
    const { host: _host, connection: _connection, ...headers } = request?.headers ?? {}
    expect(headers).toEqual({
      accept: "application/json",
      "accept-encoding": "gzip, deflate",
      "accept-language": "*",
      "sec-fetch-mode": "cors",
      "user-agent": "tideline",
    })
    expect(request?.url).toBe("/releases/latest")
  })

  it.each([
    ["no JSON", { body: "<html>" }],
    ["no version", { body: JSON.stringify({ tag_name: "nightly" }) }],
    ["notes that are no web page", { body: JSON.stringify({ ...LATEST, html_url: "javascript:alert(1)" }) }],
    ["an error", { status: 404, body: "{}" }],
    ["too much", { body: " ".repeat(1_000_001) }],
  ])("is refused if the response is %s", async (_, answer) => {
    const feed = await openFeed(answer)
    await expect(readRelease(feed.url)).rejects.toThrow(/^(127\.0\.0\.1:\d+ |The response has more)/)
  })

  it("is asked for by one process a day, and every process knows it", async () => {
    const feed = await openFeed({ body: JSON.stringify(LATEST) })
    const { scope, look, later } = await openWatching(feed.url)
    expect(await findReleaseCheck(scope)).toBeNull()
    await Promise.all([look(), look(), look()])
    expect(feed.asked).toHaveLength(1)
    expect(await findReleaseCheck(scope)).toMatchObject({ newest: { version: "0.2.0" }, failed: false })
    await look()
    expect(feed.asked).toHaveLength(1)
    await later()
    feed.answer.body = JSON.stringify({ ...LATEST, tag_name: "v0.3.0" })
    await look()
    expect(feed.asked).toHaveLength(2)
    expect(await findReleaseCheck(scope)).toMatchObject({ newest: { version: "0.3.0" } })
  })

  it("stays known while the feed fails, and what another feed named is forgotten", async () => {
    const feed = await openFeed({ body: JSON.stringify(LATEST) })
    const { scope, look, later } = await openWatching(feed.url)
    await look()
    await later()
    feed.answer.status = 500
    await expect(look()).rejects.toThrow("status 500")
    expect(await findReleaseCheck(scope)).toMatchObject({ newest: { version: "0.2.0" }, failed: true })
    scope.config.releasesUrl = `${feed.url}?other`
    expect(await findReleaseCheck(scope)).toBeNull()
    await expect(look()).rejects.toThrow("status 500")
    expect(await findReleaseCheck(scope)).toMatchObject({ newest: null, failed: true })
  })

  it("is asked of nobody without a feed", async () => {
    const { scope, look } = await openWatching(null)
    await look()
    expect(await findReleaseCheck(scope)).toBeNull()
  })

  it("is newer by its numbers, and than its own pre-releases", () => {
    expect(isNewer("0.10.0", "0.9.2")).toBe(true)
    expect(isNewer("1.0.0", "1.0.0-beta.2")).toBe(true)
    for (const version of ["0.9.2", "0.9.1", "0.8.10"]) expect(isNewer(version, "0.9.2")).toBe(false)
  })

  it("is announced to the operator, or that it could not be read", () => {
    const newest = { version: "0.2.0", notes: null }
    expect(judgeRelease({ newest, failed: true }, "0.1.0")[0]?.what.message).toBe(
      "Version 0.2.0 is available; this is 0.1.0. Read its notes, back up, and upgrade.",
    )
    expect(judgeRelease({ newest, failed: false }, "0.2.0")).toEqual([])
    expect(judgeRelease({ newest: null, failed: true }, "0.2.0")[0]?.what.reason).toBe(
      "newest-version-unknown",
    )
  })
})
