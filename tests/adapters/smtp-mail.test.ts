import { once } from "node:events"
import { createServer } from "node:net"
import PostalMime from "postal-mime"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { afterEach, describe, expect, test } from "vitest"
import { openSmtpMail } from "#server/adapters/smtp-mail.ts"
import { portOf } from "../support/port-of.ts"

const LETTER = {
  to: "ada@example.org",
  subject: "Willkommen — 歓迎 🌊",
  text: "Hello Ada.\n.\nA line with a dot alone is no end.\n",
  html: "<p>Hello <b>Ada</b>.</p>",
}

describe("a letter", () => {
  test("arrives whole: envelope, subject, text and HTML", async () => {
    const { url, received } = await openServer()
    await openSmtpMail({ url, from: "Tideline <tideline@example.org>" }).send(LETTER)

    const [mail] = received
    expect(mail?.envelope).toEqual({ from: "tideline@example.org", to: ["ada@example.org"] })
    const parsed = await PostalMime.parse(mail?.source ?? "")
    expect(parsed.from).toMatchObject({ name: "Tideline", address: "tideline@example.org" })
    expect(parsed.to).toMatchObject([{ address: "ada@example.org" }])
    expect(parsed.subject).toBe(LETTER.subject)
    expect(parsed.text?.replaceAll("\r\n", "\n").trimEnd()).toBe(LETTER.text.trimEnd())
    expect(parsed.html).toContain("<b>Ada</b>")
    expect(parsed.headers).toContainEqual(
      expect.objectContaining({ key: "auto-submitted", value: "auto-generated" }),
    )
  })

  test("has the id that the sender was told", async () => {
    const { url, received } = await openServer()
    const { id } = await openSmtpMail({ url, from: "tideline@example.org" }).send(LETTER)
    expect(id).toMatch(/^<[^<>\s]+@example\.org>$/)
    expect((await PostalMime.parse(received[0]?.source ?? "")).messageId).toBe(id)
  })

  test.each([
    ["the subject", { ...LETTER, subject: "Hello\r\nBcc: eve@example.org" }],
    ["the address", { ...LETTER, to: "ada@example.org\r\nBcc: eve@example.org" }],
    ["the address, as a second one", { ...LETTER, to: "ada@example.org, eve@example.org" }],
  ])("cannot be given another recipient through %s", async (_where, letter) => {
    const { url, received } = await openServer()
    await openSmtpMail({ url, from: "tideline@example.org" })
      .send(letter)
      .catch(() => {})
    for (const { envelope, source } of received) {
      expect(envelope.to).not.toContain("eve@example.org")
      expect((await PostalMime.parse(source)).bcc ?? []).toEqual([])
    }
  })
})

describe("a failure says what happened", () => {
  test("when the server refuses the address", async () => {
    const { url } = await openServer({
      onRcptTo: (_address, _session, answer) =>
        answer(Object.assign(new Error("No such user here"), { responseCode: 550 })),
    })
    await expect(send(url)).rejects.toThrow("The mail server answered: 550 No such user here")
  })

  test("when the server refuses the message", async () => {
    const { url } = await openServer({
      onData: (stream, _session, answer) => {
        stream
          .resume()
          .once("end", () => answer(Object.assign(new Error("Try later"), { responseCode: 451 })))
      },
    })
    await expect(send(url)).rejects.toThrow("The mail server answered: 451 Try later")
  })

  test("when the connection is refused, without the server's address", async () => {
    const { url, close } = await openServer()
    await close()
    const error = await send(url).catch((reason: unknown) => reason)
    expect(String(error)).toMatch(/The mail server did not take the message: it .*(reached|refused)/)
    expect(String(error)).not.toMatch(/127\.0\.0\.1|\d{4,}/)
  })

  test("when the server hangs up in the middle", async () => {
    const server = createServer((socket) => socket.end("220 ready\r\n")).listen(0, "127.0.0.1")
    await once(server, "listening")
    afterwards(() => server.close())
    const port = portOf(server)
    await expect(send(`smtp://127.0.0.1:${port}`)).rejects.toThrow("The mail server did not take the message")
  })

  test("when the credentials are wrong, without repeating them", async () => {
    const { url } = await openServer({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth: (_auth, _session, answer) => answer(new Error("Invalid credentials")),
    })
    const error = await send(url.replace("//", "//tideline:s3cr3t-words@")).catch((reason: unknown) => reason)
    expect(String(error)).toMatch(/The mail server answered: 535/)
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
})

function send(url: string) {
  return openSmtpMail({ url, from: "tideline@example.org" }).send(LETTER)
}

interface Received {
  envelope: { from: string; to: string[] }
  source: string
}

async function openServer(options: SMTPServerOptions = {}) {
  const received: Received[] = []
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    async onData(stream, { envelope }, answer) {
      const source = Buffer.concat(await stream.toArray()).toString("utf8")
      const { mailFrom, rcptTo } = envelope
      received.push({
        envelope: { from: mailFrom ? mailFrom.address : "", to: rcptTo.map(({ address }) => address) },
        source,
      })
      answer()
    },
    ...options,
  })
  smtp.on("error", () => {})
  smtp.listen(0, "127.0.0.1")
  await once(smtp.server, "listening")
  const port = portOf(smtp.server)
  const close = () => new Promise<void>((resolve) => smtp.close(resolve))
  afterwards(close)
  return { url: `smtp://127.0.0.1:${port}`, received, close }
}

const cleanups: (() => unknown)[] = []
const afterwards = (cleanup: () => unknown) => cleanups.push(cleanup)

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})
