import { once } from "node:events"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { request } from "node:http"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { openInboxStore } from "#server/adapters/mail/local-inbox-store.ts"
import { openLocalInbox } from "#server/adapters/mail/local-inbox.ts"
import { openSmtpMail } from "#server/adapters/mail/smtp.ts"
import { portOf } from "../support/port-of.ts"

const MESSAGE = {
  to: "ada@example.org",
  subject: "Reset <your> password",
  text: "Plain words",
  html: `<html><head><title>t</title></head><body><p>Rich words</p><script>alert(1)</script></body></html>`,
}

describe("the local inbox", () => {
  test("shows an email that was sent over SMTP", async () => {
    const { inbox, mail } = await openInbox()
    const { id } = await mail.send(MESSAGE)

    const [summary] = await readJson(`${inbox.url}/api/messages`)
    expect(summary).toMatchObject({
      to: "ada@example.org",
      from: "Tideline <t@example.org>",
      subject: MESSAGE.subject,
    })
    expect(Math.abs(Date.parse(summary.receivedAt) - Date.now())).toBeLessThan(60_000)

    const message = await readJson(`${inbox.url}/api/messages/${summary.id}`)
    expect(message.text.trim()).toBe("Plain words")
    expect(message.html).toContain("Rich words")
    expect(message.headers).toContainEqual({ name: "Message-ID", value: id })

    const page = await (await fetch(`${inbox.url}/messages/${summary.id}`)).text()
    expect(page).toContain("No mail leaves this machine")
    expect(page).toContain("Reset &lt;your&gt; password")
    expect(page).toMatch(/<iframe[^>]* sandbox="(?!.*allow-(scripts|same-origin))/)
    expect(await (await fetch(inbox.url)).text()).toContain("Reset &lt;your&gt; password")
  })

  test("shows the HTML of an email where its scripts cannot run", async () => {
    const { inbox, mail } = await openInbox()
    await mail.send(MESSAGE)
    const [{ id }] = await readJson(`${inbox.url}/api/messages`)
    const framed = await fetch(`${inbox.url}/messages/${id}/html`)
    const policy = framed.headers.get("content-security-policy")
    expect(policy).toMatch(/^sandbox (?!.*allow-(scripts|same-origin))/)
    expect(policy).toContain("default-src 'none'")
    expect(await framed.text()).toContain('<head><base target="_blank">')
  })

  test("cannot be framed by another page, and an email only by the inbox's own", async () => {
    const { inbox, mail } = await openInbox()
    await mail.send(MESSAGE)
    const [{ id }] = await readJson(`${inbox.url}/api/messages`)
    for (const path of ["/", `/messages/${id}`, `/messages/${id}/source`, "/api/messages", "/nothing"]) {
      const { headers } = await fetch(inbox.url + path)
      expect(headers.get("content-security-policy"), path).toContain("frame-ancestors 'none'")
      expect(headers.get("x-frame-options"), path).toBe("DENY")
      expect(headers.get("x-content-type-options"), path).toBe("nosniff")
      expect(headers.get("referrer-policy"), path).toBe("no-referrer")
      expect(headers.get("cross-origin-opener-policy"), path).toBe("same-origin")
      expect(headers.get("cross-origin-resource-policy"), path).toBe("same-origin")
      expect(headers.get("permissions-policy"), path).toContain("camera=()")
      expect(headers.get("cache-control"), path).toBe("no-store")
    }
    const framed = await fetch(`${inbox.url}/messages/${id}/html`)
    expect(framed.headers.get("content-security-policy")).toContain("frame-ancestors 'self'")
    expect(framed.headers.get("x-frame-options")).toBe("SAMEORIGIN")
  })

  test("lists the newest email first", async () => {
    const { inbox, mail } = await openInbox()
    for (const subject of ["first", "second", "third"]) await mail.send({ ...MESSAGE, subject })
    const subjects = (await readJson(`${inbox.url}/api/messages`)).map(
      (message: { subject: string }) => message.subject,
    )
    expect(subjects).toEqual(["third", "second", "first"])
  })

  test("keeps its emails across restarts", async () => {
    const { inbox, mail, directory } = await openInbox()
    await mail.send(MESSAGE)
    const before = await readJson(`${inbox.url}/api/messages`)
    await inbox.close()
    const { inbox: reopened } = await openInbox({ directory })
    expect(before).toHaveLength(1)
    expect(await readJson(`${reopened.url}/api/messages`)).toEqual(before)
  })

  test("moves to a free port if its own is taken, and reports it", async () => {
    const squatter = createServer().listen(0, "127.0.0.1")
    await once(squatter, "listening")
    afterwards(() => squatter.close())
    const port = portOf(squatter)
    const { inbox } = await openInbox({ port })
    expect(inbox.movedFrom).toBe(port)
    expect((await fetch(inbox.url)).status).toBe(200)
  })

  test("only answers to its own host names, so that DNS rebinding cannot read a reset link", async () => {
    const { inbox } = await openInbox()
    expect(await statusFor(inbox.url, { host: "evil.example" })).toBe(403)
    expect(await statusFor(inbox.url, { host: "localhost:8025" })).toBe(200)
  })

  test("listens on loopback unless told otherwise", async () => {
    const { inbox } = await openInbox()
    await expect(fetch(onAnotherAddress(inbox.url))).rejects.toThrow()
    const { inbox: open } = await openInbox({ host: "0.0.0.0" })
    expect(await statusFor(onAnotherAddress(open.url), { host: "localhost" })).toBe(200)
    expect((await fetch(onAnotherAddress(open.url))).status).toBe(403)
  })

  test("is read-only", async () => {
    const { inbox } = await openInbox()
    const response = await fetch(`${inbox.url}/api/messages`, { method: "DELETE" })
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"])
  })

  test.each(["/messages/unknown", "/api/messages/../../etc/passwd", "/messages/%2e%2e%2fsecret", "/nothing"])(
    "returns 404 for %s",
    async (path) => {
      const { inbox } = await openInbox()
      expect((await fetch(inbox.url + path)).status).toBe(404)
    },
  )

  test("refuses a message above the size limit and stores none of it", async () => {
    const { inbox, mail } = await openInbox()
    await expect(mail.send({ ...MESSAGE, text: "x".repeat(6 * 1024 * 1024) })).rejects.toThrow("552")
    expect(await readJson(`${inbox.url}/api/messages`)).toEqual([])
  })
})

describe("the message store", () => {
  test("keeps the latest messages and drops older ones, on disk too", async () => {
    const directory = await temporaryDirectory()
    const store = await openInboxStore(directory, 3)
    for (let i = 1; i <= 5; i++) await store.keep(Buffer.from(`Subject: email ${i}\r\n\r\nwords`))
    expect(store.list().map(({ subject }) => subject)).toEqual(["email 5", "email 4", "email 3"])
    expect(await readdir(directory)).toHaveLength(3)
  })
})

/** 127.0.0.2 is this machine as well, but not the address that the inbox listens on. */
function onAnotherAddress(url: string) {
  return url.replace("127.0.0.1", "127.0.0.2")
}

async function openInbox({ host = "127.0.0.1", port = 0, directory = "" } = {}) {
  const home = directory || (await temporaryDirectory())
  const inbox = await openLocalInbox({ host, port, directory: home })
  afterwards(inbox.close)
  return {
    inbox,
    directory: home,
    mail: openSmtpMail({ url: inbox.smtpUrl, from: "Tideline <t@example.org>" }),
  }
}

async function temporaryDirectory() {
  const directory = await mkdtemp(join(tmpdir(), "tideline-inbox-"))
  afterwards(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function readJson(url: string) {
  const response = await fetch(url)
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8")
  return response.json()
}

async function statusFor(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const [response] = await once(request(url, { headers }).end(), "response")
  response.resume()
  return response.statusCode
}

const cleanups: (() => unknown)[] = []
const afterwards = (cleanup: () => unknown) => cleanups.unshift(cleanup)

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})
