import { once } from "node:events"
import { createServer } from "node:net"
import PostalMime from "postal-mime"
import type { SMTPServerOptions } from "smtp-server"
import { afterEach, describe, expect, test } from "vitest"
import { openSmtpMail } from "#server/adapters/mail/smtp.ts"
import { isPermanent } from "#server/ports/mail.ts"
import { portOf } from "../support/port-of.ts"
import { headerNames, openSmtpReceiver } from "../support/smtp.ts"

const MESSAGE = {
  to: "ada@example.org",
  subject: "Willkommen — 歓迎 🌊",
  text: "Hello Ada.\n.\nA line with a dot alone is no end.\n",
  html: "<p>Hello <b>Ada</b>.</p>",
}

describe("an email", () => {
  test("arrives whole: envelope, subject, text and HTML", async () => {
    const { url, received } = await openServer()
    await openSmtpMail({ url, from: "Tideline <tideline@example.org>" }).send(MESSAGE)

    const [mail] = received
    expect(mail?.envelope).toEqual({ from: "tideline@example.org", to: ["ada@example.org"] })
    const parsed = await PostalMime.parse(mail?.source ?? "")
    expect(parsed.from).toMatchObject({ name: "Tideline", address: "tideline@example.org" })
    expect(parsed.to).toMatchObject([{ address: "ada@example.org" }])
    expect(parsed.subject).toBe(MESSAGE.subject)
    expect(parsed.text?.replaceAll("\r\n", "\n").trimEnd()).toBe(MESSAGE.text.trimEnd())
    expect(parsed.html).toContain("<b>Ada</b>")
    expect(parsed.headers).toContainEqual(
      expect.objectContaining({ key: "auto-submitted", value: "auto-generated" }),
    )
  })

  test("has the id that was returned to the caller", async () => {
    const { url, received } = await openServer()
    const { id } = await openSmtpMail({ url, from: "tideline@example.org" }).send(MESSAGE)
    expect(id).toMatch(/^<[^<>\s]+@example\.org>$/)
    expect((await PostalMime.parse(received[0]?.source ?? "")).messageId).toBe(id)
  })

  test("keeps the id it was given at every attempt", async () => {
    const { url, received } = await openServer()
    const mail = openSmtpMail({ url, from: "tideline@example.org" })
    const messageId = "<4f2a@tideline.example.org>"
    expect(await mail.send({ ...MESSAGE, messageId })).toEqual({ id: messageId })
    await mail.send({ ...MESSAGE, messageId })
    for (const { source } of received) expect((await PostalMime.parse(source)).messageId).toBe(messageId)
  })

  test("is delivered to an address in any script", async () => {
    const { url, received } = await openServer()
    const mail = openSmtpMail({ url, from: "tideline@example.org" })
    await mail.send({ ...MESSAGE, to: "ada@bücher.example" })
    await mail.send({ ...MESSAGE, to: "o'brien+tide@example.org" })
    expect(received.map(({ envelope }) => envelope.to[0])).toEqual([
      "ada@bücher.example",
      "o'brien+tide@example.org",
    ])
  })
})

const BREAKS = [
  "\r\n",
  "\n",
  "\r",
  "\r\n ",
  "\u0000",
  "\u000B",
  "\u0085",
  "\u2028",
  "\u2029",
  "\u560A",
  "%0d%0a",
  "\\r\\n",
]

/** Ways to inject a second recipient, or a header line, where an email address belongs. */
const ADDRESSES = [
  ...BREAKS.map((line) => `ada@example.org${line}Bcc: eve@example.org`),
  "ada@example.org,eve@example.org",
  "ada@example.org, eve@example.org",
  "ada@example.org;eve@example.org",
  "ada@example.org eve@example.org",
  "<eve@example.org>",
  "ada@example.org <eve@example.org>",
  '"ada@example.org" <eve@example.org>',
  '"eve@example.org, ada"@example.org',
  "all:ada@example.org,eve@example.org;",
  "ada@example.org (eve@example.org)",
  "@example.org:eve@example.com",
  "ada%eve@example.org@example.com",
  "=?utf-8?q?eve=40example.org=2C?=@example.org",
  "ada@example.org>\r\nRCPT TO:<eve@example.org",
  "ada@[127.0.0.1]",
  "ada",
  "@",
  "",
]

describe("the message header", () => {
  test.each(ADDRESSES)("gets no extra line or recipient from the address %j", async (to) => {
    const { url, received } = await openServer()
    const error = await openSmtpMail({ url, from: "tideline@example.org" })
      .send({ ...MESSAGE, to })
      .catch((reason: unknown) => reason)
    if (error instanceof Error) expect(isPermanent(error)).toBe(true)
    for (const { envelope, source } of received) {
      expect(envelope.to).toHaveLength(1)
      expect(headerNames(source)).toEqual(HEAD)
      expect(source.split("\r\n\r\n", 1)[0]).not.toMatch(/^bcc:/im)
    }
    expect(received.flatMap(({ envelope }) => envelope.to)).not.toContain("eve@example.org")
  })

  test.each(BREAKS)("gets no extra line from %j in the subject or the id", async (line) => {
    const { url, received } = await openServer()
    const mail = openSmtpMail({ url, from: "tideline@example.org" })
    await mail.send({ ...MESSAGE, subject: `Hello${line}Bcc: eve@example.org` }).catch(() => {})
    await mail.send({ ...MESSAGE, messageId: `<a@b>${line}Bcc: eve@example.org` }).catch(() => {})
    for (const { envelope, source } of received) {
      expect(envelope.to).toEqual(["ada@example.org"])
      expect(headerNames(source)).toEqual(HEAD)
    }
  })
})

/** The header fields of every email. */
const HEAD = ["auto-submitted", "from", "to", "subject", "message-id", "date", "mime-version", "content-type"]

describe("a failure is reported", () => {
  test("when the server refuses the address", async () => {
    const { url } = await openServer({
      onRcptTo: (_address, _session, answer) =>
        answer(Object.assign(new Error("No such user here"), { responseCode: 550 })),
    })
    const error = await send(url).catch((reason: unknown) => reason)
    expect(String(error)).toContain("The mail server answered: 550 No such user here")
    expect(isPermanent(error)).toBe(true)
  })

  test("when the server refuses the message", async () => {
    const { url } = await openServer({
      onData: (stream, _session, answer) => {
        stream
          .resume()
          .once("end", () => answer(Object.assign(new Error("Try later"), { responseCode: 451 })))
      },
    })
    const error = await send(url).catch((reason: unknown) => reason)
    expect(String(error)).toContain("The mail server answered: 451 Try later")
    expect(isPermanent(error)).toBe(false)
  })

  test.each([
    ["refuses the message permanently", 554, true],
    ["has no space", 452, false],
  ])("when the server %s", async (_what, responseCode, expected) => {
    const { url } = await openServer({
      onData: (stream, _session, answer) => {
        stream.resume().once("end", () => answer(Object.assign(new Error("No"), { responseCode })))
      },
    })
    expect(isPermanent(await send(url).catch((reason: unknown) => reason))).toBe(expected)
  })

  test("when the server refuses the sender, as a problem for the operator and not of the email", async () => {
    const { url } = await openServer({
      onMailFrom: (_address, _session, answer) =>
        answer(Object.assign(new Error("Authentication required"), { responseCode: 530 })),
    })
    expect(isPermanent(await send(url).catch((reason: unknown) => reason))).toBe(false)
  })

  test("when the connection is refused, without the server's address", async () => {
    const { url, close } = await openServer()
    await close()
    const error = await send(url).catch((reason: unknown) => reason)
    expect(String(error)).toMatch(/The mail server did not accept the message: it .*(reached|refused)/)
    expect(String(error)).not.toMatch(/127\.0\.0\.1|\d{4,}/)
  })

  test("when the server hangs up in the middle", async () => {
    const server = createServer((socket) => socket.end("220 ready\r\n")).listen(0, "127.0.0.1")
    await once(server, "listening")
    afterwards(() => server.close())
    const port = portOf(server)
    await expect(send(`smtp://127.0.0.1:${port}`)).rejects.toThrow(
      "The mail server did not accept the message",
    )
  })

  test("when the credentials are wrong, without repeating them", async () => {
    const { url } = await openServer({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth: (_auth, _session, answer) => answer(new Error("Invalid credentials")),
    })
    const error = await send(url.replace("//", "//tideline:s3cr3t-words@")).catch((reason: unknown) => reason)
    expect(String(error)).toMatch(/The mail server answered: 535/)
    expect(isPermanent(error)).toBe(false)
    expect(String(error)).not.toContain("s3cr3t-words")
  })

  test("when a password would travel unencrypted to another machine", async () => {
    const attempts: unknown[] = []
    const { url } = await openServer({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth: (auth, _session, answer) => {
        attempts.push(auth)
        answer(null, { user: "tideline" })
      },
    })
    await send(url.replace("//", "//tideline:s3cr3t-words@"))
    expect(attempts).toHaveLength(1)
    const elsewhere = url.replace("//127.0.0.1", "//tideline:s3cr3t-words@0.0.0.0")
    await expect(send(elsewhere)).rejects.toThrow("no encrypted connection could be made")
    expect(attempts).toHaveLength(1)
  })

  test("when the server's certificate is not signed by a known authority", async () => {
    const attempts: unknown[] = []
    const { url, received } = await openServer({
      disabledCommands: [],
      onAuth: (auth, _session, answer) => {
        attempts.push(auth)
        answer(null, { user: "tideline" })
      },
    })
    const elsewhere = url.replace("//127.0.0.1", "//tideline:s3cr3t-words@0.0.0.0")
    await expect(send(elsewhere)).rejects.toThrow(
      /^The mail server did not accept the message: its certificate was refused \(.*(?:CERT|certificate).*NODE_EXTRA_CA_CERTS$/,
    )
    expect([attempts, received]).toEqual([[], []])
  })
})

describe("a mail server that cannot be talked to", () => {
  test("is said to speak no TLS where smtps:// is wrong", async () => {
    const { url } = await openServer()
    await expect(send(url.replace("smtp:", "smtps:"))).rejects.toThrow(
      /: it does not begin with TLS there \(\w+\)\. With STARTTLS, as on port 587, SMTP_URL begins with smtp:\/\/$/,
    )
  })

  test("is said to have refused the connection where its port is closed", async () => {
    const { url, close } = await openServer()
    await close()
    await expect(send(url)).rejects.toThrow(/: it refused the connection: nothing listens at that port$/)
  })

  test("is said to begin with TLS where it waits for it", async () => {
    const { url } = await openServer({ secure: true })
    await expect(send(url)).rejects.toThrow(/: it took the connection and said nothing\..*smtps:\/\/$/)
  }, 30_000)
})

function send(url: string) {
  return openSmtpMail({ url, from: "tideline@example.org" }).send(MESSAGE)
}

async function openServer(options: SMTPServerOptions = {}) {
  const receiver = await openSmtpReceiver(options)
  afterwards(receiver.stop)
  return { url: receiver.url, received: receiver.received, close: receiver.stop }
}

const cleanups: (() => unknown)[] = []
const afterwards = (cleanup: () => unknown) => cleanups.push(cleanup)

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})
